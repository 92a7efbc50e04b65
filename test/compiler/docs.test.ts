import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { generatedDocs } from "./generated-docs.ts";

const docs = generatedDocs().map((doc) => ({ ...doc, name: path.relative(root, doc.path) }));

it.each(docs)("$name holds what npm run docs writes", ({ path: file, text }) => {
  expect(readFileSync(file, "utf8")).toBe(text);
});
