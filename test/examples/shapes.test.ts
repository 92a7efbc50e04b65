import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";

interface Shape {
  readonly name: string;
  readonly works: boolean;
  readonly file: object;
  /** What else stands beside it. */
  readonly files?: Readonly<Record<string, string>>;
}

const text = readFileSync(path.join(import.meta.dirname, "fixtures", "shapes.yaml"), "utf8");
const shapes: readonly Shape[] = parseAllDocuments(text).map((document) => document.toJS());

/** What may be said of a file that works: that something is better kept elsewhere or fixed, or is not on this machine. */
const warnings: ReadonlySet<string> = new Set([
  "file-not-here",
  "literal-secret",
  "unpinned-package",
]);

it.each(shapes)("$name is built, or what is missing is said by name", ({ works, file, files }) => {
  const host = memoryHost({ ...files, "gateway.yaml": stringify(file) });
  const { program, findings } = checkInput(["gateway.yaml"], host, false);
  const codes = findings.map(({ code }) => code).filter((code) => !warnings.has(code));
  expect(new Set(codes)).toEqual(new Set(works ? [] : ["not-built-yet"]));
  expect(program !== undefined).toBe(works);
});
