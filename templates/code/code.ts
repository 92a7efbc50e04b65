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
 * Code from a template. The common indentation is removed; a hole that spans lines keeps the indentation of its line;
 * a hole that is an empty list removes its line.
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

/** Any data as a literal; strings are quoted here and nowhere else. */
export function literal(value: Printable): Literal {
  return { [made]: true, kind: "literal", value };
}

/**
 * An object that differs from a constant of the runtime in some fields: `{ ...base, key: value }`; the constant itself
 * when it differs in none.
 */
export function extension(
  base: ImportSymbol,
  fields: { readonly [key: string]: Printable | undefined },
): ImportSymbol | Extension {
  const isSame = Object.values(fields).every((field) => field === undefined);
  return isSame ? base : { [made]: true, kind: "extension", base, fields };
}

/** A comment of any text: line breaks and control characters can't end it. */
export function comment(text: string): Comment {
  return {
    [made]: true,
    kind: "comment",
    text: withoutHidden(text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ")).trim(),
  };
}

/** On one line when it fits, else broken at its breaks. */
export function group(...content: readonly Piece[]): Group {
  return firstThatFits([pieces(content)]);
}

/** Broken at its breaks in any case. */
export function brokenGroup(...content: readonly Piece[]): Group {
  return { [made]: true, kind: "group", forms: [pieces(content)], isBroken: true };
}

/** The first form that fits. */
export function firstThatFits(forms: readonly Hole[]): Group {
  return { [made]: true, kind: "group", forms, isBroken: false };
}

/** Two columns deeper where it is broken. */
export function indented(...content: readonly Piece[]): Indented {
  return { [made]: true, kind: "indented", content: pieces(content) };
}

/** A space, or a line break. */
export const LINE: Break = { [made]: true, kind: "break", flat: " " };
/** Nothing, or a line break. */
export const SOFT: Break = { [made]: true, kind: "break", flat: "" };

/** A text of ours that stands only where the group around it is broken. */
export function brokenOnly(broken: string, flat = ""): BrokenOnly {
  return { [made]: true, kind: "broken-only", broken, flat };
}

/** As many on a line as fit, with commas. */
export function filled(items: readonly string[]): Filled {
  return { [made]: true, kind: "filled", items };
}

/** Pieces one after the other. */
export function pieces(parts: readonly Piece[]): Code {
  return { [made]: true, kind: "code", parts };
}

/** Text that a template made of checked parts: the one way in for text that is no literal of a template. */
export function verbatim(text: string): Code {
  return { [made]: true, kind: "code", parts: [text] };
}

/** Pieces with text of ours between them: `join(names, ", ")`. */
export function join(holes: readonly Hole[], separator: Piece): Code {
  const parts: (string | Hole)[] = [];
  holes.forEach((hole, index) => {
    if (index > 0) parts.push(separator);
    parts.push(hole);
  });
  return { [made]: true, kind: "code", parts };
}

/** Removes the first and last blank line and the indentation that all lines share. */
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
