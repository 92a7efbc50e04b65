import {
  type Break,
  type BrokenOnly,
  type Code,
  type Comment,
  type Extension,
  type Filled,
  type Group,
  type Hole,
  type ImportSymbol,
  type Indented,
  type Literal,
  made,
  type Piece,
  type Printable,
} from "./hole.ts";
import { withoutHidden } from "./quote.ts";

/**
 * Builds code from a template. The common indentation is removed. A hole of several lines keeps the indentation of
 * its line, and a hole with an empty list removes its line.
 */
export function code(strings: TemplateStringsArray, ...holes: readonly Hole[]): Code {
  const texts = dedent(strings);
  const parts: (string | Hole)[] = [];
  texts.forEach((text, index) => {
    parts.push(text);
    const hole = holes[index];
    if (hole !== undefined) parts.push(hole);
  });
  return { [made]: true, kind: "code", parts };
}

/** Makes a literal of any data; the only place that quotes strings. */
export function literal(value: Printable): Literal {
  return { [made]: true, kind: "literal", value };
}

/**
 * Makes an object that differs from a constant of the runtime in some fields: `{ ...base, key: value }`. Returns the
 * constant if no field differs.
 */
export function extension(
  base: ImportSymbol,
  fields: { readonly [key: string]: Printable | undefined },
): ImportSymbol | Extension {
  const isSame = Object.values(fields).every((field) => field === undefined);
  return isSame ? base : { [made]: true, kind: "extension", base, fields };
}

/** Makes a comment of any string: line breaks and control characters cannot end it. */
export function comment(text: string): Comment {
  return {
    [made]: true,
    kind: "comment",
    text: withoutHidden(text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ")).trim(),
  };
}

/** Prints on one line if it fits, otherwise broken at its breaks. */
export function group(...content: readonly Piece[]): Group {
  return firstThatFits([pieces(content)]);
}

/** Prints broken at its breaks in any case. */
export function brokenGroup(...content: readonly Piece[]): Group {
  return { [made]: true, kind: "group", forms: [pieces(content)], isBroken: true };
}

/** Prints the first form that fits. */
export function firstThatFits(forms: readonly Hole[]): Group {
  return { [made]: true, kind: "group", forms, isBroken: false };
}

/** Indents lines by two columns where they are broken. */
export function indented(...content: readonly Piece[]): Indented {
  return { [made]: true, kind: "indented", content: pieces(content) };
}

/** A space or a line break. */
export const LINE: Break = { [made]: true, kind: "break", flat: " " };
/** An empty string or a line break. */
export const SOFT: Break = { [made]: true, kind: "break", flat: "" };

/** Prints a fixed string only if the group around it is broken. */
export function brokenOnly(broken: string, flat = ""): BrokenOnly {
  return { [made]: true, kind: "broken-only", broken, flat };
}

/** Prints numbers with commas, as many on a line as fit. */
export function filled(items: readonly string[]): Filled {
  return { [made]: true, kind: "filled", items };
}

/** Concatenates pieces. */
export function pieces(parts: readonly Piece[]): Code {
  return { [made]: true, kind: "code", parts };
}

/**
 * Makes a piece of a string that a template built from checked parts: the only way in for strings outside of template
 * literals.
 */
export function verbatim(text: string): Code {
  return { [made]: true, kind: "code", parts: [text] };
}

/** Joins pieces with a fixed separator: `join(names, ", ")`. */
export function join(holes: readonly Hole[], separator: Piece): Code {
  const parts: (string | Hole)[] = [];
  holes.forEach((hole, index) => {
    if (index > 0) parts.push(separator);
    parts.push(hole);
  });
  return { [made]: true, kind: "code", parts };
}

/** Removes the first and the last blank line, and the indentation that all lines share. */
function dedent(strings: TemplateStringsArray): string[] {
  const mark = "\u0000";
  let text = strings.join(mark);
  if (text.startsWith("\n")) text = text.slice(1);
  text = text.replace(/\n[ \t]*$/, "");
  let common = Number.POSITIVE_INFINITY;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    common = Math.min(common, line.length - line.trimStart().length);
  }
  if (common === Number.POSITIVE_INFINITY) common = 0;
  const indentation = common;
  return text
    .split("\n")
    .map((line) => line.slice(Math.min(indentation, line.length)))
    .join("\n")
    .split(mark);
}
