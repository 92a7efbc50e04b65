import path from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { checkFiles, emitProgram } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { Gateway } from "./gateway.ts";
import { mountsIn } from "./mounts.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * A gateway of manifests with mistakes, as a controller serves it: what has some is left out. `mounted`: a folder with
 * `secrets` and `config-maps`; `variables`: its environment.
 */
export async function startIsolated(
  manifests: string,
  mounted?: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const options = { name: "test", isStrict: false, isIsolating: true };
  const checked = checkFiles(["a.yaml"], memoryHost({ "a.yaml": manifests }), options);
  if (checked.program === undefined) throw new Error("nothing is left of the gateway");
  const { files } = await emitProgram(checked.program, checked.files, {
    trace: "path",
    isTypeChecked: false,
    version: "test",
    progress: () => {},
  });
  const folder = temporaryFolder();
  writeFiles(folder, files);
  const env = { ...variables, ...(mounted === undefined ? {} : mountsIn(mounted)) };
  return new Gateway(path.join(folder, "gateway.mjs"), folder, env).listening();
}
