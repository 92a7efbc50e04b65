import type { Emitted } from "../../compiler/4-emit/emit.ts";
import { checkFiles, emitProgram } from "../../compiler/compile.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { locate } from "../../compiler/diagnostics/source.ts";
import { type Host, realHost } from "../../compiler/host.ts";

/** Compiles a configuration as `gwc build` does; throws with its diagnostics when it is refused. */
export async function compileFile(
  file: string,
  options: { readonly name: string; readonly host?: Host; readonly isTypeChecked?: boolean },
): Promise<Emitted> {
  const host = options.host ?? realHost(process.env);
  const { program, diagnostics, files } = checkFiles([file], host, {
    name: options.name,
    isStrict: false,
  });
  if (program === undefined) {
    const lines = diagnostics.map(({ code, params, at }) => {
      const { path: where, line, column } = locate(at, files);
      return `${where}:${line}:${column} ${code}: ${messageOf(code).text(params as never)}`;
    });
    throw new Error(`refused:\n${lines.join("\n")}`);
  }
  return emitProgram(program, files, {
    trace: "path",
    isTypeChecked: options.isTypeChecked ?? false,
    version: "test",
    progress: () => {},
  });
}
