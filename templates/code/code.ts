import type { EnvTemplate } from "../../compiler/ir/texts.ts";

/** Marks what this module made: configuration data can look like code, but never carries a symbol. */
export const made = Symbol("made by templates/code/code.ts");

/**
 * TypeScript text under construction. Made by the `code` tag only: a hole takes code, an import symbol, a literal, a
 * name or a comment, never a bare string, so configuration text can't become code by accident.
 */
export interface Code {
  readonly [made]: true;
  readonly kind: "code";
  readonly parts: readonly (string | Hole)[];
}

/** A name that the printed module has to import; printing it collects the import. */
export interface ImportSymbol {
  readonly [made]: true;
  readonly kind: "import";
  readonly module: string;
  readonly name: string;
  readonly isType: boolean;
}

/** A value printed as a TypeScript literal, broken over lines when it doesn't fit. */
export interface Literal {
  readonly [made]: true;
  readonly kind: "literal";
  readonly value: Printable;
}

/** An identifier of the printed module. */
export interface Name {
  readonly [made]: true;
  readonly kind: "name";
  readonly text: string;
}

/** One or more `//` lines. */
export interface Comment {
  readonly [made]: true;
  readonly kind: "comment";
  readonly text: string;
}

/** The first form when it fits on one line, else the second. */
export interface Either {
  readonly [made]: true;
  readonly kind: "either";
  readonly line: Hole;
  readonly broken: Hole;
}

/** What may stand in a template's hole. */
export type Hole = Code | ImportSymbol | Literal | Name | Comment | Either | readonly Hole[];

/** What a literal may hold: JSON data, and code where a value is not plain data. */
export type Printable =
  | string
  | number
  | boolean
  | null
  | EnvTemplate
  | Code
  | ImportSymbol
  | Name
  | readonly Printable[]
  | { readonly [key: string]: Printable | undefined };

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

/** A value of a module: `imported("gwc/runtime/policies/cors", "applyCors")`. */
export function imported(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: false };
}

/** A type of a module. */
export function importedType(module: string, name: string): ImportSymbol {
  return { [made]: true, kind: "import", module, name, isType: true };
}

/** Any data as a literal; strings are quoted here and nowhere else. */
export function literal(value: Printable): Literal {
  return { [made]: true, kind: "literal", value };
}

/** An identifier; throws when it isn't one (names are made by compiler/ir/identifiers.ts). */
export function name(text: string): Name {
  if (!/^[A-Za-z_$][\w$]*$/.test(text)) throw new Error(`not an identifier: ${text}`);
  return { [made]: true, kind: "name", text };
}

/** A comment of any text: line breaks and control characters can't end it. */
export function comment(text: string): Comment {
  return {
    [made]: true,
    kind: "comment",
    text: text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").trim(),
  };
}

/** `line` when it fits into the line, else `broken`. */
export function either(line: Hole, broken: Hole): Either {
  return { [made]: true, kind: "either", line, broken };
}

/** Text that the compiler itself made, already TypeScript (an emitted expression): the one way in for text. */
export function verbatim(text: string): Code {
  return { [made]: true, kind: "code", parts: [text] };
}

/** The same with holes between its pieces; its lines are indented as they are in it. */
export function woven(parts: readonly (string | Hole)[]): Code {
  return { [made]: true, kind: "code", parts };
}

/** Pieces with text of ours between them: `join(names, ", ")`. */
export function join(holes: readonly Hole[], separator: string): Code {
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
