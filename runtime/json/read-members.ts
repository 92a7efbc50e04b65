import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ZERO,
} from "./json-characters.ts";
import {
  afterSpace,
  type JsonCodes,
  plainStringEnd,
  stringEnd,
  TOO_DEEP,
  valueEnd,
} from "./json-codes.ts";
import { type Member, stringOf } from "./json-text.ts";
import type { KnownKeys } from "./known-keys.ts";

/** Reason why members cannot be read. */
export type MembersProblem = "no-json" | "no-object" | "too-deep";

/** Options for reading members. */
export interface MembersReading {
  /** Maximum nesting depth of objects and lists, including the outermost object. */
  readonly maxDepth: number;
  /** Keys that are likely to occur. */
  readonly known: KnownKeys;
}

/**
 * Returns the members of a JSON object, in order, including repeated keys. `json` holds the codes of `text`. Nested values
 * are not validated; callers that need this parse them.
 */
export function readMembers(
  text: string,
  json: JsonCodes,
  reading: MembersReading,
): readonly Member[] | MembersProblem {
  const at = afterSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return isJson(text) ? "no-object" : "no-json";
  const members: Member[] = [];
  let i = afterSpace(json, at + 1);
  while (json[i] !== CLOSE_BRACE || members.length > 0) {
    const member = memberAt(text, json, i, reading);
    if (typeof member === "string") return member;
    members.push(member);
    i = afterSpace(json, member.end);
    const code = json[i];
    if (code === CLOSE_BRACE) break;
    if (code !== COMMA) return "no-json";
    i = afterSpace(json, i + 1);
  }
  return afterSpace(json, i + 1) === json.length ? members : "no-json";
}

function memberAt(
  text: string,
  json: JsonCodes,
  at: number,
  { maxDepth, known }: MembersReading,
): Member | MembersProblem {
  if (json[at] !== QUOTE) return "no-json";
  const plainEnd = plainStringEnd(json, at);
  const keyEnd = plainEnd === -1 ? stringEnd(json, at) : plainEnd;
  const behind = afterSpace(json, keyEnd);
  if (json[behind] !== COLON) return "no-json";
  const key =
    plainEnd === -1
      ? keyOf(text, at, keyEnd)
      : (known.at(json, at + 1, keyEnd - 1) ?? text.slice(at + 1, keyEnd - 1));
  const start = afterSpace(json, behind + 1);
  const end = valueEnd(json, start, maxDepth - 1);
  if (end === TOO_DEEP) return "too-deep";
  const code = json[start];
  const isLong = code === QUOTE || code === OPEN_BRACE || code === OPEN_BRACKET;
  if (key === undefined || !(isLong || isScalar(text, json, start, end))) return "no-json";
  return { key, keyStart: at, start, end };
}

/** `undefined` if the key is not JSON. The result is a slice: its members are only used together with the text. */
function keyOf(text: string, start: number, end: number): string | undefined {
  try {
    return stringOf(text, { start, end });
  } catch {
    return undefined;
  }
}

/** Fast path: most scalars other than strings are recognized without a parser. */
function isScalar(text: string, json: JsonCodes, start: number, end: number): boolean {
  const length = end - start;
  if (length === 4 && (text.startsWith("true", start) || text.startsWith("null", start)))
    return true;
  if (length === 5 && text.startsWith("false", start)) return true;
  return isNatural(json, start, end) || isJson(text.slice(start, end));
}

/** Whether it is a positive number of digits only. */
function isNatural(json: JsonCodes, start: number, end: number): boolean {
  if (json[start] === ZERO) return false;
  for (let i = start; i < end; i++) {
    const code = json[i] ?? 0;
    if (code < ZERO || code > NINE) return false;
  }
  return end > start;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
