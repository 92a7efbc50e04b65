import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { generatedDocs } from "./generated-docs.ts";

const docs = generatedDocs().map((doc) => ({ ...doc, name: path.relative(root, doc.path) }));

it.each(docs)("$name holds what npm run docs writes", ({ path: file, text }) => {
  expect(readFileSync(file, "utf8")).toBe(text);
});

it("the code in README is what its example compiles to", () => {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const compiled = readFileSync(path.join(root, "out/authorization/routes/tools.ts"), "utf8");
  const [, code = ""] = /```ts\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(code).not.toBe("");
  for (const piece of code.split("\n\n")) expect(compiled).toContain(piece);
});
