import { readFileSync } from "node:fs";
import path from "node:path";
import { editorSchemaText } from "../../compiler/commands/schema.ts";
import { referenceDocuments } from "../../compiler/inspect/reference/documents.ts";
import { runtimeFolder } from "../../compiler/installation.ts";
import { typescript } from "../../compiler/policies/custom/typescript.ts";
import { keysApiDocument } from "../../runtime/auth/keys-api/keys-api-document.ts";
import { compatibilityPage } from "../conformance/compatibility/page.ts";
import { root } from "../harness/root.ts";
import { commandsPage } from "./commands-page.ts";
import { mistakesDocument } from "./mistakes/mistakes.ts";

/** A file with generated text, and what it should hold. */
export interface GeneratedDoc {
  readonly path: string;
  readonly text: string;
}

/** The documents that are generated, as they should be now. */
export async function generatedDocs(): Promise<readonly GeneratedDoc[]> {
  return [
    { path: path.join(root, ".github", "reference", "mistakes.md"), text: mistakesDocument() },
    {
      path: path.join(root, ".github", "reference", "compatibility.md"),
      text: compatibilityPage(),
    },
    {
      path: path.join(root, ".github", "reference", "commands.md"),
      text: await commandsPage(),
    },
    {
      path: path.join(root, ".github", "reference", "keys-api.json"),
      text: `${JSON.stringify(keysApiDocument, undefined, 2)}\n`,
    },
    { path: path.join(root, "examples", "schema.json"), text: editorSchemaText() },
    {
      path: path.join(root, ".github", "reference", "policy-api.d.ts"),
      text: policyInterface(),
    },
    ...referenceDocuments().map(({ file, text: page }) => ({
      path: path.join(root, ".github", "reference", file),
      text: page,
    })),
  ];
}

/** The public contract of custom policies, without comments: a difference is a change for everybody who wrote a policy. */
function policyInterface(): string {
  const source = readFileSync(path.join(runtimeFolder, "policy", "policy.ts"), "utf8");
  const compilerOptions = { declaration: true, removeComments: true, isolatedDeclarations: true };
  return typescript().ts.transpileDeclaration(source, { compilerOptions }).outputText;
}
