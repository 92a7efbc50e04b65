/**
 * JavaScript representation of CEL values. `undefined` is never a value, and always means an error.
 *
 * | CEL | JavaScript |
 * | --- | --- |
 * | null, bool, string | the same |
 * | int | a number if it is a safe integer, or else a bigint; each value has only one form |
 * | double | a number that is not an int (`1.5`, `NaN`, `-0`, `1e300`), or else a `Double` |
 * | uint | a `Uint` |
 * | bytes | a Uint8Array |
 * | list | an array |
 * | map | a plain object (as JSON.parse makes it) or a Map |
 * | timestamp, duration, type, optional, ip, cidr | classes of their modules that extend `Box` |
 *
 * Parsed JSON needs no conversion: its integers are ints.
 */

/** An int: a number if it is a safe integer, or else a bigint. */
export type Int = number | bigint;

/** Base of values that are JavaScript objects but not maps. */
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

/** A double whose number would otherwise be an int. */
export class Double extends Box {
  readonly kind = "double";
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

/** Converts a JavaScript number to a CEL double. */
export function double(value: number): unknown {
  return isIntNumber(value) ? new Double(value) : value;
}

/** Converts an exact number to a uint; `undefined` if it is out of range. */
export function uint(value: Int): Uint | undefined {
  if (typeof value === "number") return value >= 0 ? new Uint(value) : undefined;
  if (value < 0n || value > 0xffff_ffff_ffff_ffffn) return undefined;
  return new Uint(canonical(value));
}

/** Converts an exact number to an int; `undefined` if it is out of range. */
export function int(value: bigint): Int | undefined {
  if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) return undefined;
  return canonical(value);
}

/** Returns the canonical JavaScript form of an exact number. */
export function canonical(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Whether a JavaScript number represents an int. */
export function isIntNumber(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/**
 * Maximum length of lists for macros that create a value for each item, so that one request cannot delay the others. Tests
 * (`in`, `exists`, `all`) accept lists of any length.
 */
export const MAX_ITEMS = 100_000;

/**
 * Maximum length of strings or bytes that an expression creates: `text.replace("a", "aa")` doubles a string, and a chain of
 * such calls grows it exponentially.
 */
export const MAX_TEXT = 4_000_000;

/** Returns a composed string or bytes; `undefined` if it is too long. */
export function withinLimit<Text extends string | Uint8Array>(
  made: Text | undefined,
): Text | undefined {
  return made === undefined || made.length > MAX_TEXT ? undefined : made;
}

/** CEL type of a value. */
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

/** Returns the CEL type of a value; `undefined` for an error. */
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

/** Returns a number of any CEL type as a JavaScript number or bigint, for comparisons; `undefined` for other values. */
export function numberOf(value: unknown): Int | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return value instanceof Uint || value instanceof Double ? value.value : undefined;
}

/** Whether a value is an int. */
export function isInt(value: unknown): value is Int {
  return typeof value === "bigint" || (typeof value === "number" && isIntNumber(value));
}

/** Returns the JavaScript number of a double; `undefined` for other values. */
export function doubleOf(value: unknown): number | undefined {
  if (typeof value === "number" && !isIntNumber(value)) return value;
  return value instanceof Double ? value.value : undefined;
}
