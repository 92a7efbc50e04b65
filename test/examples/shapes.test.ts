import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";

interface Shape {
  readonly name: string;
  readonly works: boolean;
  /** The diagnostic of a form that does not work; by default that it is not built yet. */
  readonly codes?: readonly string[];
  readonly file: object;
  /** Further sections of the file. */
  readonly files?: Readonly<Record<string, string>>;
}

const text = readFileSync(path.join(import.meta.dirname, "fixtures", "shapes.yaml"), "utf8");
const shapes: readonly Shape[] = parseAllDocuments(text).map((document) => document.toJS());

/** Diagnostics that a working file may have: something should be fixed, stored elsewhere or escaped, or is missing. */
const warnings: ReadonlySet<string> = new Set([
  "file-not-here",
  "limits-who-says-so",
  "literal-secret",
  "unpinned-package",
]);

it.each(shapes)(
  "$name is built, or what is missing is said by name",
  ({ works, codes: said = ["not-built-yet"], file, files }) => {
    const host = memoryHost({ ...files, "gateway.yaml": stringify(file) });
    const { program, findings } = checkInput(["gateway.yaml"], host, false);
    const codes = findings.map(({ code }) => code).filter((code) => !warnings.has(code));
    expect(new Set(codes)).toEqual(new Set(works ? [] : said));
    expect(program !== undefined).toBe(works);
  },
);
