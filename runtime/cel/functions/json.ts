import { foldCase } from "../../json/fold-case.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import { entriesOf } from "../collections/entries.ts";
import { formatDuration, formatTimestamp } from "../time/time-text.ts";
import { Duration, Timestamp } from "../time/time-values.ts";
import { decodeText } from "../values/convert.ts";
import { doubleOf, isInt, kindOf, Uint, withinLimit } from "../values/values.ts";

/**
 * `json(text)`: the value of JSON in a string or bytes. Invalid JSON is an error. So is an object with repeated keys, even
 * if they differ in case, because later readers may use the other value.
 */
export function json(text: unknown): unknown {
  const source = text instanceof Uint8Array ? decodeText(text) : text;
  if (typeof source !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(source);
    return hasRepeatedKey(source, foldCase) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * `toJson(value)`: the value as JSON. Bytes are base64, times as in `string()`. A value that is nested too deeply, or whose
 * JSON is too long, is an error.
 */
export function toJson(value: unknown): string | undefined {
  try {
    return withinLimit(textOf(value));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "bool":
      return String(value);
    case "string":
      return JSON.stringify(value);
    case "int":
    case "uint":
    case "double":
      return numberText(value);
    case "list":
      return Array.isArray(value) ? listText(value) : undefined;
    case "map":
      return mapText(value);
    default:
      return textOfOther(value);
  }
}

function numberText(value: unknown): string | undefined {
  if (isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  const number = doubleOf(value);
  return number === undefined || !Number.isFinite(number) ? undefined : String(number);
}

function listText(list: readonly unknown[]): string | undefined {
  const parts = list.map(textOf);
  return parts.includes(undefined) ? undefined : `[${parts.join(",")}]`;
}

function mapText(map: unknown): string | undefined {
  const parts: string[] = [];
  for (const [key, value] of entriesOf(map) ?? []) {
    const name = typeof key === "string" ? key : textOf(key);
    const text = textOf(value);
    if (name === undefined || text === undefined) return undefined;
    parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

function textOfOther(value: unknown): string | undefined {
  if (value instanceof Timestamp) return JSON.stringify(formatTimestamp(value));
  if (value instanceof Duration) return JSON.stringify(formatDuration(value));
  if (!(value instanceof Uint8Array)) return undefined;
  return JSON.stringify(Buffer.from(value).toString("base64"));
}
