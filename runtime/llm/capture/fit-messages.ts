import { isJsonObject } from "../../json/json-object.ts";

/** JSON of messages, and whether parts of them are missing. */
export interface FittedJson {
  readonly json: string;
  readonly isTruncated: boolean;
}

/** Writes messages or parts as JSON of at most `maxBytes`: the latest ones. If the last one alone is too long, it is cut. */
export function fitMessages(messages: readonly object[], maxBytes: number): FittedJson {
  const kept: string[] = [];
  let left = maxBytes - "[]".length;
  for (const message of messages.toReversed()) {
    const json = JSON.stringify(message);
    left -= Buffer.byteLength(json) + ",".length;
    if (left < 0) break;
    kept.unshift(json);
  }
  const last = messages.at(-1);
  if (kept.length > 0 || last === undefined)
    return { json: `[${kept.join(",")}]`, isTruncated: kept.length < messages.length };
  return { json: cutJson(last, maxBytes), isTruncated: true };
}

/** Cuts the strings of a message until it fits; it is omitted if it does not fit without any. */
function cutJson(message: object, maxBytes: number): string {
  for (let length = maxBytes; length > 0; length >>= 1) {
    const json = JSON.stringify([cutStrings(message, length)]);
    if (Buffer.byteLength(json) <= maxBytes) return json;
  }
  return "[]";
}

function cutStrings(value: unknown, length: number): unknown {
  if (typeof value === "string")
    return value.length <= length ? value : `${value.slice(0, length).toWellFormed()}...`;
  if (Array.isArray(value)) return value.map((each) => cutStrings(each, length));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, cutStrings(each, length)]),
  );
}
