import type { HoistedConstant, ImportedName } from "../../ir/expressions.ts";

/** How strongly the outermost operator of a piece of TypeScript binds; higher binds stronger. */
export type Precedence = number;

/** The levels, weakest first. */
export const PRECEDENCE = {
  /** `a ? b : c`, `(x) => y` */
  lowest: 0,
  /** `a ?? b`; never beside `&&` or `||` without parentheses */
  fallback: 1,
  or: 2,
  and: 3,
  equality: 4,
  relation: 5,
  sum: 6,
  product: 7,
  unary: 8,
  /** `a.b`, `f(a)`, a name, a literal */
  primary: 9,
} as const;

/**
 * What TypeScript knows of a value that is not undefined: nothing (`unknown`), one of these types, or another one. An
 * `int` is a bigint.
 */
export type TsType = "boolean" | "string" | "number" | "int" | "bytes" | "unknown" | "other";

/** A piece of TypeScript that gives a CEL value, and what is known of it. */
export interface Code {
  readonly text: string;
  readonly level: Precedence;
  readonly ts: TsType;
  /** Whether it may be undefined: an error of the evaluation. */
  readonly mayFail: boolean;
  /** Whether it is cheap and short enough to be written twice. */
  readonly isSimple?: boolean;
  /** Whether it comes from parsed JSON as it is, so that a number in it is a JavaScript number. */
  readonly isJson?: boolean;
  /** A JSON object or null, and nothing else: `jwt`. */
  readonly isJsonRoot?: boolean;
  /** A double in the form of a JavaScript number, `1` included. */
  readonly isRawDouble?: boolean;
  /** The smallest and largest number it can be, when it is an int and that is known. */
  readonly range?: readonly [number, number];
  /** The opposite of a boolean, when there is a shorter way to write it than with `!`. */
  readonly opposite?: { readonly text: string; readonly level: Precedence };
}

/** A possible line break: a space when the line is short enough. */
export const LINE = "\ue001";
/** A possible line break: nothing when the line is short enough. */
export const SOFT = "\ue002";

/** The longest line of emitted code. */
const WIDTH = 90;

/** The text with parentheses when its operator binds more weakly than the place asks for. */
export function atPrecedence(
  code: { readonly text: string; readonly level: Precedence },
  level: Precedence,
): string {
  return code.level < level ? `(${code.text})` : code.text;
}

/** A call as text, breakable at its arguments. */
export function callText(callee: string, args: readonly string[]): string {
  if (args.length === 0) return `${callee}()`;
  return `${callee}(${SOFT}${args.join(`,${LINE}`)}${SOFT})`;
}

/** Lays the text out: one line if it fits, else broken at the outermost possible breaks. */
export function format(text: string): string {
  const flat = flatten(text);
  if (flat.length <= WIDTH) return flat;
  const pieces = splitOutermost(text);
  if (pieces.length === 1) return flat;
  return pieces
    .map((piece) => format(piece.trim()))
    .filter((line) => line !== "")
    .join("\n");
}

function flatten(text: string): string {
  return text.replaceAll(LINE, " ").replaceAll(SOFT, "");
}

/** Splits at the breaks that the fewest brackets enclose; brackets in string literals don't count. */
function splitOutermost(text: string): readonly string[] {
  const depths = breakDepths(text);
  const shallowest = Math.min(...depths.map(({ depth }) => depth));
  const pieces: string[] = [];
  let start = 0;
  for (const { at, depth } of depths) {
    if (depth !== shallowest) continue;
    pieces.push(text.slice(start, at));
    start = at + 1;
  }
  pieces.push(text.slice(start));
  return pieces;
}

function breakDepths(text: string): readonly { readonly at: number; readonly depth: number }[] {
  const found: { at: number; depth: number }[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') at = endOfString(text, at);
    else if (char === "(" || char === "[" || char === "{") depth += 1;
    else if (char === ")" || char === "]" || char === "}") depth -= 1;
    else if (char === LINE || char === SOFT) found.push({ at, depth });
  }
  return found;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === "\\" ? 2 : 1;
  return at;
}

/** A string as a TypeScript literal: ASCII, control characters escaped. */
export function stringLiteral(value: string): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The longest string literal in one piece, as it is written. */
const LITERAL_WIDTH = 72;

/** A string as one literal, or a long one as a sum of literals with a possible break after each. */
export function stringCode(value: string): { readonly text: string; readonly level: Precedence } {
  const whole = stringLiteral(value);
  if (whole.length <= LITERAL_WIDTH) return { text: whole, level: PRECEDENCE.primary };
  const pieces: string[] = [];
  let piece = "";
  for (const char of value) {
    if (stringLiteral(piece + char).length > LITERAL_WIDTH) {
      pieces.push(piece);
      piece = "";
    }
    piece += char;
  }
  pieces.push(piece);
  return { text: pieces.map(stringLiteral).join(` +${LINE}`), level: PRECEDENCE.sum };
}

/** What a piece of emitted code needs around it, collected while it is made. */
export class EmitContext {
  readonly #imports = new Map<string, ImportedName>();
  readonly #constants = new Map<string, HoistedConstant>();

  /** Imports a helper of the runtime (`values/select#field`) and gives its name. */
  helper(reference: string, isType = false): string {
    const [module = "", name = ""] = reference.split("#");
    this.#imports.set(reference, {
      module: `gwc/runtime/cel/${module}`,
      name,
      ...(isType ? { isType } : {}),
    });
    return name;
  }

  /** A module constant; the same initializer gives the same constant. */
  constant(
    proposal: string,
    text: string,
    imports: readonly ImportedName[],
    type?: string,
  ): string {
    for (const known of this.#constants.values()) if (known.text === text) return known.name;
    let name = proposal;
    for (let count = 2; this.#constants.has(name); count += 1) name = `${proposal}${count}`;
    this.#constants.set(name, {
      name,
      text,
      imports,
      ...(type === undefined ? {} : { type }),
    });
    return name;
  }

  get imports(): readonly ImportedName[] {
    return [...this.#imports.keys()].sort().flatMap((key) => this.#imports.get(key) ?? []);
  }

  get constants(): readonly HoistedConstant[] {
    return [...this.#constants.values()];
  }
}
