import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMap, isScalar, parseDocument } from "yaml";
import {
  decodeScalar,
  type ScalarToken,
  sourceOffset,
} from "../../../compiler/diagnostics/locate.ts";
import { SCALAR_STYLES } from "../../../compiler/diagnostics/source.ts";

/** The value of the key `k` in a document, and its token; undefined when YAML refuses the text or reads no string. */
function scalarOf(
  text: string,
): { readonly value: string; readonly token: ScalarToken } | undefined {
  const document = parseDocument(text, { strict: true });
  if (document.errors.length > 0) return undefined;
  const outer = document.contents;
  const inner = isMap(outer) ? outer.get("o", true) : undefined;
  const node = isMap(inner) ? inner.get("k", true) : undefined;
  if (!isScalar(node) || typeof node.value !== "string" || node.range == null) return undefined;
  const style = Object.entries(SCALAR_STYLES).find(([type]) => type === node.type)?.[1];
  if (style === undefined) return undefined;
  const [start, end] = node.range;
  return {
    value: node.value,
    token: { text: text.slice(start, end), start, style, value: node.value },
  };
}

/** Lines that exercise folding: blanks, indentation, tabs, comments' hash, quotes, escapes. */
const piece = fc.constantFrom(
  "a",
  "b c",
  " ",
  "  ",
  "\t",
  "#x",
  "é",
  "😀",
  "''",
  "\\n",
  "\\x41",
  "\\\\",
  "\\u00e9",
  '\\"',
  "-",
  ":",
  "",
  "\\\n",
);
const line = fc.array(piece, { maxLength: 5 }).map((parts) => parts.join(""));
const lines = fc.array(line, { minLength: 1, maxLength: 6 });
const breaks = fc.constantFrom("\n", "\r\n");

const flow = fc
  .tuple(lines, breaks, fc.constantFrom("", "'", '"'))
  .map(([parts, lineBreak, quote]) => {
    const body = parts.join(`${lineBreak}    `);
    return `o:${lineBreak}  k: ${quote}${quote === '"' ? body : body.replaceAll("\\\n", "\\")}${quote}${lineBreak}  z: 1${lineBreak}`;
  });

const block = fc
  .tuple(
    lines,
    breaks,
    fc.constantFrom("|", ">"),
    fc.constantFrom("", "-", "+"),
    fc.constantFrom("", "2", "3"),
  )
  .map(([parts, lineBreak, type, chomp, digit]) => {
    const indent = digit === "3" ? "     " : "    ";
    const body = parts
      .flatMap((each) => each.split("\n"))
      .map((each) => (each === "" ? "" : indent + each))
      .join(lineBreak);
    return `o:${lineBreak}  k: ${type}${digit}${chomp}${lineBreak}${body}${lineBreak}  z: 1${lineBreak}`;
  });

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 1_000 : 20_000;

describe("offsets in scalars", () => {
  it.each([
    ["flow", flow],
    ["block", block],
  ] as const)("a %s scalar decodes to the value that YAML gives it", (_, documents) => {
    let compared = 0;
    fc.assert(
      fc.property(documents, (text) => {
        const found = scalarOf(text);
        if (found === undefined) return;
        compared += 1;
        const decoded = decodeScalar(found.token);
        expect(decoded.value).toBe(found.value);
        expect(decoded.offsets).toHaveLength(found.value.length + 1);
      }),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan(RUNS / 5);
  });

  it.each([
    ["flow", flow],
    ["block", block],
  ] as const)(
    "each offset in a %s scalar points at the character it stands for, and they never go back",
    (_, documents) => {
      fc.assert(
        fc.property(documents, (text) => {
          const found = scalarOf(text);
          if (found === undefined) return;
          let before = 0;
          for (let at = 0; at < found.value.length; at += 1) {
            const offset = sourceOffset(found.token, at);
            const char = found.value.charAt(at);
            expect(offset).toBeGreaterThanOrEqual(before);
            if (/[a-z#é]/.test(char) && text[offset] !== "\\") expect(text[offset]).toBe(char);
            before = offset;
          }
        }),
        { numRuns: RUNS / 2 },
      );
    },
  );

  it.each([
    ["o:\n  k: jwt.sub == x\n", "x"],
    ["o:\n  k: 'jwt.sub == ''a'' && x'\n", "x"],
    ['o:\n  k: "jwt.sub == \\"a\\" && x"\n', "x"],
    ['o:\n  k: "a\\tb\\\n     x"\n', "x"],
    ["o:\n  k: |\n    jwt.sub ==\n      x\n", "x"],
    ["o:\n  k: >-\n    jwt.sub\n    ==\n\n    x\n", "x"],
    ["o:\n  k: |2-\n     jwt\n    x\n", "x"],
  ])("in %j the mark lands on the very character", (text, char) => {
    const found = scalarOf(text);
    if (found === undefined) throw new Error("not read");
    const at = found.value.indexOf(char);
    expect(sourceOffset(found.token, at)).toBe(text.indexOf(char));
    expect(sourceOffset(found.token, at + 1)).toBe(text.indexOf(char) + 1);
  });
});
