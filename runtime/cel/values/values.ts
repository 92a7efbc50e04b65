/**
 * How CEL values look in JavaScript. `undefined` is no value: it stands for an error, everywhere.
 *
 * | CEL | JavaScript |
 * | --- | --- |
 * | null, bool, string | the same |
 * | int | a number while it is a safe integer, else a bigint; never both for one value |
 * | double | a number that no int has (`1.5`, `NaN`, `-0`, `1e300`), else a `Double` |
 * | uint | a `Uint` |
 * | bytes | a Uint8Array |
 * | list | an array |
 * | map | a plain object (as JSON.parse makes it) or a Map |
 * | timestamp, duration, type, optional, ip, cidr | classes of their modules, below `Box` |
 *
 * Parsed JSON needs no conversion: its integers are ints.
 */

/** An int: a number while it is a safe integer, else a bigint. */
export type Int = number | bigint;

/** What all values that are JavaScript objects of our own have in common: they are no maps. */
export abstract class Box {
  abstract readonly kind:
    | "uint"
    | "double"
    | "timestamp"
    | "duration"
    | "type"
    | "optional"
    | "ip"
    | "cidr";
}

/** A uint; `value` as in `Int`. */
export class Uint extends Box {
  readonly kind = "uint";
  readonly value: Int;

  constructor(value: Int) {
    super();
    this.value = value;
  }
}

/** A double whose number would read as an int. */
export class Double extends Box {
  readonly kind = "double";
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

/** A JavaScript number as a CEL double. */
export function double(value: number): unknown {
  return isIntNumber(value) ? new Double(value) : value;
}

/** An exact number as a uint; undefined when it does not fit. */
export function uint(value: Int): Uint | undefined {
  if (typeof value === "number") return value >= 0 ? new Uint(value) : undefined;
  if (value < 0n || value > 0xffff_ffff_ffff_ffffn) return undefined;
  return new Uint(canonical(value));
}

/** An exact number as an int; undefined when it does not fit. */
export function int(value: bigint): Int | undefined {
  if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) return undefined;
  return canonical(value);
}

/** The one JavaScript form of an exact number. */
export function canonical(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Whether a JavaScript number stands for an int. */
export function isIntNumber(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/**
 * Macros that make a value for each item refuse longer lists: what a request brings must not hold up the others. Tests
 * (`in`, `exists`, `all`) go over lists of any length.
 */
export const MAX_ITEMS = 100_000;

/**
 * How many characters, or bytes, a text that an expression makes may have: `text.replace("a", "aa")` doubles it, and a
 * chain of those doubles it each time.
 */
export const MAX_TEXT = 4_000_000;

/** A text or bytes that were made of others; undefined when that is too long. */
export function withinLimit<Text extends string | Uint8Array>(
  made: Text | undefined,
): Text | undefined {
  return made === undefined || made.length > MAX_TEXT ? undefined : made;
}

/** What a CEL value is. */
export type Kind =
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "list"
  | "map"
  | "timestamp"
  | "duration"
  | "type"
  | "optional"
  | "ip"
  | "cidr";

/** The CEL kind of a value; undefined for an error. */
export function kindOf(value: unknown): Kind | undefined {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return isIntNumber(value) ? "int" : "double";
    case "bigint":
      return "int";
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (value instanceof Box) return value.kind;
  return value instanceof Uint8Array ? "bytes" : "map";
}

/** A map that is a plain object. */
export type PlainMap = { readonly [key: string]: unknown };

/** Whether a value is a map in the form of a plain object. */
export function isPlainMap(value: unknown): value is PlainMap {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A number of any CEL kind as a JavaScript number or bigint, to compare with; undefined for other values. */
export function numberOf(value: unknown): Int | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return value instanceof Uint || value instanceof Double ? value.value : undefined;
}

/** Whether a value is an int. */
export function isInt(value: unknown): value is Int {
  return typeof value === "bigint" || (typeof value === "number" && isIntNumber(value));
}

/** The JavaScript number of a double; undefined for other values. */
export function doubleOf(value: unknown): number | undefined {
  if (typeof value === "number" && !isIntNumber(value)) return value;
  return value instanceof Double ? value.value : undefined;
}
