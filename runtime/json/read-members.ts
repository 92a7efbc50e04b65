import { jsonCode } from "./json-characters.ts";
import {
  endOfString,
  endOfValue,
  isObjectAt,
  type Member,
  skipSpace,
  stringOf,
  tooDeep,
} from "./json-text.ts";

const { quote, backslash, comma, colon: colonCode, openBrace, closeBrace, openBracket } = jsonCode;

/** Why a text has no members to read. */
export type MembersProblem = "no-json" | "no-object" | "too-deep";

/**
 * The members of the object that a text is, in their order, repeated keys included. `maxDepth`: the most objects and lists in
 * one another, it included. What stands inside of its members is not judged: who wants to know that parses the text.
 */
export function readMembers(text: string, maxDepth: number): readonly Member[] | MembersProblem {
  const at = skipSpace(text, 0);
  if (!isObjectAt(text, at)) return isJson(text) ? "no-object" : "no-json";
  const members: Member[] = [];
  let i = skipSpace(text, at + 1);
  while (text.charCodeAt(i) !== closeBrace || members.length > 0) {
    const member = memberAt(text, i, maxDepth);
    if (typeof member === "string") return member;
    members.push(member);
    i = skipSpace(text, member.end);
    const code = text.charCodeAt(i);
    if (code === closeBrace) break;
    if (code !== comma) return "no-json";
    i = skipSpace(text, i + 1);
  }
  return skipSpace(text, i + 1) === text.length ? members : "no-json";
}

function memberAt(text: string, at: number, maxDepth: number): Member | MembersProblem {
  if (text.charCodeAt(at) !== quote) return "no-json";
  const plainEnd = endOfPlainKey(text, at);
  const keyEnd = plainEnd === -1 ? endOfString(text, at) : plainEnd;
  const colon = skipSpace(text, keyEnd);
  if (text.charCodeAt(colon) !== colonCode) return "no-json";
  const key = plainEnd === -1 ? keyOf(text, at, keyEnd) : text.slice(at + 1, keyEnd - 1);
  const start = skipSpace(text, colon + 1);
  const end = endOfValue(text, start, maxDepth - 1);
  if (end === tooDeep) return "too-deep";
  const code = text.charCodeAt(start);
  const isLong = code === quote || code === openBrace || code === openBracket;
  if (key === undefined || !(isLong || isScalar(text, start, end))) return "no-json";
  return { key, keyStart: at, start, end };
}

/** Where the key at `at` ends; -1: it has escapes, or no end. */
function endOfPlainKey(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) return i + 1;
    if (code === backslash) return -1;
  }
  return -1;
}

/** Undefined: it is no JSON. It is a part of the text: who has the members has that as well. */
function keyOf(text: string, start: number, end: number): string | undefined {
  try {
    return stringOf(text, { start, end });
  } catch {
    return undefined;
  }
}

/** Of those that are no strings most need no parser to be known. */
function isScalar(text: string, start: number, end: number): boolean {
  const length = end - start;
  if (length === 4 && (text.startsWith("true", start) || text.startsWith("null", start)))
    return true;
  if (length === 5 && text.startsWith("false", start)) return true;
  return isNatural(text, start, end) || isJson(text.slice(start, end));
}

/** Whether it is a number of digits alone, above zero. */
function isNatural(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start) === zero) return false;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < zero || code > nine) return false;
  }
  return end > start;
}

const zero = 0x30;
const nine = 0x39;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
