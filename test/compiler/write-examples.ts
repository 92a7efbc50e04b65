import path from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";
import { examples, reviewedFiles } from "./example-files.ts";

for (const name of examples) {
  const file = path.join(root, "examples", name, "gateway.yaml");
  writeFiles(path.join(root, "out", name), reviewedFiles(await compileFile(file, { name })));
}
