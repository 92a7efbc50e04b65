import { codePointCount } from "../collections/collections.ts";
import { isInt, MAX_ITEMS, MAX_TEXT, withinLimit } from "../values/values.ts";

/** An optional argument. A given one that is `undefined` is an error. */
type Options = readonly [value?: unknown];

function option(options: Options, fallback: unknown): unknown {
  return options.length === 0 ? fallback : options[0];
}

/** `text.startsWith(prefix)`. */
export function startsWith(text: unknown, prefix: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof prefix !== "string") return undefined;
  return text.startsWith(prefix);
}

/** `text.endsWith(suffix)`. */
export function endsWith(text: unknown, suffix: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof suffix !== "string") return undefined;
  return text.endsWith(suffix);
}

/** `text.contains(part)`. */
export function contains(text: unknown, part: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof part !== "string") return undefined;
  return text.includes(part);
}

/** `text.charAt(index)`: a code point; empty at the end, an error beyond. */
export function charAt(text: unknown, index: unknown): string | undefined {
  if (typeof text !== "string" || !isInt(index)) return undefined;
  const at = unitIndex(text, index);
  if (at === undefined) return undefined;
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** `text.indexOf(part)`, `text.indexOf(part, from)`: in code points; -1 if it is absent. */
export function indexOf(text: unknown, part: unknown, ...options: Options): number | undefined {
  const from = option(options, 0);
  if (typeof text !== "string" || typeof part !== "string" || !isInt(from)) return undefined;
  const start = unitIndex(text, from);
  if (start === undefined) return undefined;
  const found = text.indexOf(part, start);
  return found < 0 ? -1 : codePointCount(text.slice(0, found));
}

/** `text.lastIndexOf(part)`, `text.lastIndexOf(part, from)`. */
export function lastIndexOf(text: unknown, part: unknown, ...options: Options): number | undefined {
  if (typeof text !== "string" || typeof part !== "string") return undefined;
  if (options.length === 0) return wholeIndex(text, text.lastIndexOf(part));
  const [from] = options;
  if (!isInt(from)) return undefined;
  const start = unitIndex(text, from);
  return start === undefined ? undefined : wholeIndex(text, text.lastIndexOf(part, start));
}

/** `text.substring(start)`, `text.substring(start, end)`: in code points; out of range is an error. */
export function substring(text: unknown, start: unknown, ...options: Options): string | undefined {
  if (typeof text !== "string" || !isInt(start)) return undefined;
  const first = unitIndex(text, start);
  if (first === undefined) return undefined;
  if (options.length === 0) return text.slice(first);
  const [end] = options;
  const last = isInt(end) ? unitIndex(text, end) : undefined;
  return last === undefined || last < first ? undefined : text.slice(first, last);
}

/** `text.lowerAscii()`: letters A to Z only. */
export function lowerAscii(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `text.upperAscii()`: letters a to z only. */
export function upperAscii(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * `text.replace(part, replacement)`, `text.replace(part, replacement, limit)`; a negative limit means no limit. A result
 * that is too long is an error.
 */
export function replace(
  text: unknown,
  part: unknown,
  replacement: unknown,
  ...options: Options
): string | undefined {
  const limit = option(options, -1);
  if (typeof text !== "string" || typeof part !== "string") return undefined;
  if (typeof replacement !== "string" || !isInt(limit)) return undefined;
  if (isTooLongAfter(text, part, replacement, limit)) return undefined;
  // a dollar in the replacement would refer to the match
  if (limit < 0) return text.replaceAll(part, replacement.replaceAll("$", "$$$$"));
  let left = limit;
  return text.replaceAll(part, (found) => {
    if (left <= 0) return found;
    left = Number(left) - 1;
    return replacement;
  });
}

/** Whether replacing makes a string too long, determined in advance. Stops counting beyond the maximum. */
function isTooLongAfter(
  text: string,
  part: string,
  replacement: string,
  limit: number | bigint,
): boolean {
  const growth = replacement.length - part.length;
  const step = Math.max(1, part.length);
  if (text.length + growth * (text.length / step + 1) <= MAX_TEXT || growth <= 0) return false;
  let length = text.length;
  let left = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  for (let at = text.indexOf(part); at >= 0 && left > 0 && length <= MAX_TEXT; left -= 1) {
    length += growth;
    at = at + step > text.length ? -1 : text.indexOf(part, at + step);
  }
  return length > MAX_TEXT;
}

/** `text.split(separator)`, `text.split(separator, limit)`: the last part contains the rest; 0 returns no parts. */
export function split(
  text: unknown,
  separator: unknown,
  ...options: Options
): readonly string[] | undefined {
  const limit = option(options, -1);
  if (typeof text !== "string" || typeof separator !== "string" || !isInt(limit)) return undefined;
  if (limit === 0) return [];
  const parts = separator === "" ? [...text] : text.split(separator);
  if (limit < 0 || limit >= parts.length) return parts;
  const kept = Number(limit) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
}

/**
 * `list.join()`, `list.join(separator)`: an element that is not a string is an error, and so is a result that is too long.
 */
export function join(list: unknown, ...options: Options): string | undefined {
  const separator = option(options, "");
  if (typeof separator !== "string") return undefined;
  // a header with one value is a string
  if (typeof list === "string") return list;
  if (
    !Array.isArray(list) ||
    list.length > MAX_ITEMS ||
    !list.every((each) => typeof each === "string")
  )
    return undefined;
  const length = list.reduce((sum, part: string) => sum + part.length + separator.length, 0);
  return length > MAX_TEXT + separator.length ? undefined : list.join(separator);
}

/** `text.trim()`: removes Unicode white space. */
export function trim(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  // U+FEFF is white space in JavaScript, U+0085 is in Unicode
  return text.replace(/^[\s\u0085]+/u, keepMark).replace(/[\s\u0085]+$/u, keepMark);
}

function keepMark(space: string): string {
  return space.includes("\ufeff") ? space.replace(/[^\ufeff]/gu, "") : "";
}

/** `text.reverse()`: by code points. */
export function reverse(text: unknown): string | undefined {
  return typeof text === "string" ? [...text].reverse().join("") : undefined;
}

/** `text.stripPrefix(prefix)`: the string without the prefix, or unchanged. */
export function stripPrefix(text: unknown, prefix: unknown): string | undefined {
  if (typeof text !== "string" || typeof prefix !== "string") return undefined;
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

/** `text.stripSuffix(suffix)`: the string without the suffix, or unchanged. */
export function stripSuffix(text: unknown, suffix: unknown): string | undefined {
  if (typeof text !== "string" || typeof suffix !== "string") return undefined;
  return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text;
}

const QUOTED: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** `strings.quote(text)`: a CEL literal of the string. */
export function quote(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  let quoted = '"';
  for (const char of text.toWellFormed()) quoted += QUOTED[char] ?? char;
  return withinLimit(`${quoted}"`);
}

function wholeIndex(text: string, found: number): number {
  return found < 0 ? -1 : codePointCount(text.slice(0, found));
}

/** Returns the UTF-16 index of a code point index; `undefined` outside of the string. */
function unitIndex(text: string, index: number | bigint): number | undefined {
  if (index < 0 || index > text.length) return undefined;
  let left = Number(index);
  let at = 0;
  for (; left > 0 && at < text.length; left -= 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return left > 0 ? undefined : at;
}
