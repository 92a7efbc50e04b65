import { writeFileSync } from "node:fs";
import { generatedDocs } from "./generated-docs.ts";

for (const { path, text } of await generatedDocs()) writeFileSync(path, text);
