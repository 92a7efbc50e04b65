import { readFileSync } from "node:fs";
import path from "node:path";
import { editorSchemaText } from "../../compiler/commands/schema.ts";
import { referenceDocuments } from "../../compiler/inspect/reference/documents.ts";
import { policyTable } from "../../compiler/inspect/reference/policies.ts";
import { root } from "../harness/compile-file.ts";

/** A file with generated text, and what it should hold. */
export interface GeneratedDoc {
  readonly path: string;
  readonly text: string;
}

/** The documents that are generated, whole or in part, as they should be now. */
export function generatedDocs(): readonly GeneratedDoc[] {
  const readme = path.join(root, "README.md");
  const before = readFileSync(readme, "utf8");
  const text = before.replace(
    /(<!-- policies:.*-->\n)[\s\S]*?(<!-- \/policies -->)/,
    (_, start: string, end: string) => `${start}${policyTable()}\n${end}`,
  );
  return [
    { path: readme, text },
    { path: path.join(root, "examples", "schema.json"), text: editorSchemaText() },
    ...referenceDocuments().map(({ file, text: page }) => ({
      path: path.join(root, ".github", "reference", file),
      text: page,
    })),
  ];
}
