import { timestampOf } from "../time/time-arithmetic.ts";
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from "../time/time-text.ts";
import { Duration, Timestamp } from "../time/time-values.ts";
import {
  type Double,
  double,
  doubleOf,
  type Int,
  int,
  isInt,
  kindOf,
  Uint,
  uint,
} from "./values.ts";

const TWO_63 = 2 ** 63;
const TWO_64 = 2 ** 64;
const TRUE_WORDS = new Set(["1", "t", "T", "true", "True", "TRUE"]);
const FALSE_WORDS = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** `bool(value)`. */
export function toBool(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  if (TRUE_WORDS.has(value)) return true;
  return FALSE_WORDS.has(value) ? false : undefined;
}

/** `int(value)`: truncates a double; converts a timestamp to seconds. */
export function toInt(value: unknown): Int | undefined {
  if (isInt(value)) return value;
  if (value instanceof Uint) return int(BigInt(value.value));
  if (value instanceof Timestamp) return value.seconds;
  if (typeof value === "string")
    return /^[+-]?\d+$/.test(value) ? int(BigInt(value.replace("+", ""))) : undefined;
  const number = doubleOf(value);
  if (number === undefined || !(number > -TWO_63 && number < TWO_63)) return undefined;
  return int(BigInt(Math.trunc(number)));
}

/** `uint(value)`: truncates a double. */
export function toUint(value: unknown): Uint | undefined {
  if (value instanceof Uint) return value;
  if (isInt(value)) return uint(BigInt(value));
  if (typeof value === "string") return /^\d+$/.test(value) ? uint(BigInt(value)) : undefined;
  const number = doubleOf(value);
  if (number === undefined || !(number >= 0 && number < TWO_64)) return undefined;
  return uint(BigInt(Math.trunc(number)));
}

/** `double(value)`. */
export function toDouble(value: unknown): unknown {
  if (isInt(value)) return double(Number(value));
  if (value instanceof Uint) return double(Number(value.value));
  if (typeof value === "string") return doubleFromText(value);
  return doubleOf(value) === undefined ? undefined : value;
}

/** `string(value)`. */
export function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Uint8Array) return decodeText(value);
  const number = doubleOf(value);
  return number === undefined ? textOfBox(value) : doubleText(number);
}

/** `bytes(value)`. */
export function toBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return typeof value === "string" ? new Uint8Array(Buffer.from(value, "utf8")) : undefined;
}

/** `timestamp(value)`: RFC 3339, or seconds since 1970. */
export function toTimestamp(value: unknown): Timestamp | undefined {
  if (value instanceof Timestamp) return value;
  if (isInt(value)) return timestampOf(Number(value), 0);
  return typeof value === "string" ? parseTimestamp(value) : undefined;
}

/** `duration(value)`: `1h30m`, or seconds. */
export function toDuration(value: unknown): Duration | undefined {
  if (value instanceof Duration) return value;
  return typeof value === "string" ? parseDuration(value) : undefined;
}

/** `dyn(value)`. */
export function toDyn(value: unknown): unknown {
  return value;
}

/** Decodes UTF-8; `undefined` if it is invalid. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (!text.includes("\ufffd")) return text;
  return Buffer.compare(Buffer.from(text, "utf8"), bytes) === 0 ? text : undefined;
}

/** Formats a double in decimal digits without an exponent, as short as possible. */
export function doubleText(number: number): string {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "+Inf" : "-Inf";
  if (Object.is(number, -0)) return "-0";
  const text = String(number);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0")}`;
}

function doubleFromText(text: string): unknown {
  const trimmed = text.replace(/^[+-]/, "");
  if (/^(inf|infinity)$/i.test(trimmed)) {
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? double(number) : undefined;
}

/** Values of libraries with a text of their own (`ip`, `cidr`). */
function textOfBox(value: unknown): string | undefined {
  const kind = kindOf(value);
  return kind === "ip" || kind === "cidr" ? String(value) : undefined;
}

export type { Double };
