import { formatDuration, formatTimestamp } from "../time/time-text.ts";
import { Duration, Timestamp } from "../time/time-values.ts";
import { doubleText, toText } from "../values/convert.ts";
import { TypeValue } from "../values/types.ts";
import {
  doubleOf,
  type Int,
  isInt,
  isPlainMap,
  kindOf,
  Uint,
  withinLimit,
} from "../values/values.ts";

/**
 * `text.format(list)`: `%s %d %f %e %b %o %x %X %%`, with a precision for `%f` and `%e`. A value that is nested too deeply
 * is an error, and so is a result that is too long.
 */
export function format(text: unknown, args: unknown): string | undefined {
  if (typeof text !== "string" || !Array.isArray(args)) return undefined;
  try {
    return withinLimit(formatAll(text, args));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function formatAll(text: string, args: readonly unknown[]): string | undefined {
  let result = "";
  let used = 0;
  let end = 0;
  for (const match of text.matchAll(/%(?:\.(\d*))?([\s\S]?)/g)) {
    result += text.slice(end, match.index);
    end = match.index + match[0].length;
    const [whole, precision, verb = ""] = match;
    if (whole === "%%") {
      result += "%";
      continue;
    }
    if (used >= args.length) return undefined;
    const written = formatOne(verb, precision, args[used]);
    if (written === undefined) return undefined;
    result += written;
    used += 1;
  }
  return result + text.slice(end);
}

function formatOne(
  verb: string,
  precision: string | undefined,
  value: unknown,
): string | undefined {
  switch (verb) {
    case "s":
      return formatText(value);
    case "d":
      return formatDecimal(value);
    case "f":
      return formatDouble(value, (number) => fixed(number, digitsOf(precision)));
    case "e":
      return formatDouble(value, (number) => scientific(number, digitsOf(precision)));
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : radix(value, 2);
    case "o":
      return radix(value, 8);
    case "x":
      return hex(value);
    case "X":
      return hex(value)?.toUpperCase();
    default:
      return undefined;
  }
}

/** Returns the text of a nested value: strings are not quoted. */
function formatText(value: unknown): string | undefined {
  if (value === null) return "null";
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  const number = doubleOf(value);
  if (number !== undefined) return infinityText(number) ?? doubleText(number);
  if (Array.isArray(value)) {
    const parts = value.map(formatText);
    return parts.includes(undefined) ? undefined : `[${parts.join(", ")}]`;
  }
  return kindOf(value) === "map" ? formatMap(value) : toText(value);
}

function formatMap(value: unknown): string | undefined {
  const entries =
    value instanceof Map ? [...value] : isPlainMap(value) ? Object.entries(value) : [];
  const parts: string[] = [];
  for (const [key, item] of entries) {
    const [name, written] = [formatText(key), formatText(item)];
    if (name === undefined || written === undefined) return undefined;
    parts.push(`${name}: ${written}`);
  }
  return `{${parts.sort().join(", ")}}`;
}

function formatDecimal(value: unknown): string | undefined {
  if (isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  const number = doubleOf(value);
  return number === undefined ? undefined : (infinityText(number) ?? doubleText(number));
}

function formatDouble(value: unknown, write: (number: number) => string): string | undefined {
  const number = isInt(value)
    ? Number(value)
    : value instanceof Uint
      ? Number(value.value)
      : doubleOf(value);
  if (number === undefined) return undefined;
  return infinityText(number) ?? write(number);
}

function infinityText(number: number): string | undefined {
  if (Number.isNaN(number)) return "NaN";
  if (Number.isFinite(number)) return undefined;
  return number > 0 ? "Infinity" : "-Infinity";
}

const DEFAULT_DIGITS = 6;

function digitsOf(precision: string | undefined): number {
  return precision === undefined || precision === ""
    ? DEFAULT_DIGITS
    : Math.min(Number(precision), 100);
}

/** Returns a number with a fixed number of decimals; exact halves of its binary value are rounded to the even digit. */
function fixed(number: number, digits: number): string {
  if (Math.abs(number) >= 1e21)
    return `${BigInt(number)}${digits > 0 ? `.${"0".repeat(digits)}` : ""}`;
  return evenHalf(number, digits) ?? number.toFixed(digits);
}

/** `toFixed` rounds exact halves up, but the even digit is required. */
function evenHalf(number: number, digits: number): string | undefined {
  const scaled = Math.abs(number) * 10 ** digits;
  if (digits > 15 || scaled % 1 !== 0.5 || scaled / 10 ** digits !== Math.abs(number))
    return undefined;
  const floor = Math.floor(scaled);
  const even = floor % 2 === 0 ? floor : floor + 1;
  return `${number < 0 ? "-" : ""}${(even / 10 ** digits).toFixed(digits)}`;
}

function scientific(number: number, digits: number): string {
  return number.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2");
}

function radix(value: unknown, base: 2 | 8): string | undefined {
  const exact = exactOf(value);
  return exact === undefined ? undefined : exact.toString(base);
}

function hex(value: unknown): string | undefined {
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("hex");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return exactOf(value)?.toString(16);
}

function exactOf(value: unknown): Int | undefined {
  if (isInt(value)) return value;
  return value instanceof Uint ? value.value : undefined;
}
