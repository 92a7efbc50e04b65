import {
  endOfString,
  endOfValue,
  isArrayAt,
  isObjectAt,
  type Member,
  skipSpace,
  stringAt,
  tooDeep,
} from "./json-text.ts";

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
  while (text.charAt(i) !== "}" || members.length > 0) {
    const member = memberAt(text, i, maxDepth);
    if (typeof member === "string") return member;
    members.push(member);
    i = skipSpace(text, member.end);
    if (text.charAt(i) === "}") break;
    if (text.charAt(i) !== ",") return "no-json";
    i = skipSpace(text, i + 1);
  }
  return skipSpace(text, i + 1) === text.length ? members : "no-json";
}

function memberAt(text: string, at: number, maxDepth: number): Member | MembersProblem {
  const keyEnd = endOfString(text, at);
  const colon = skipSpace(text, keyEnd);
  if (text.charAt(at) !== '"' || text.charAt(colon) !== ":") return "no-json";
  const key = keyOf(text, at, keyEnd);
  const start = skipSpace(text, colon + 1);
  const end = endOfValue(text, start, maxDepth - 1);
  if (end === tooDeep) return "too-deep";
  const isLong = text.charAt(start) === '"' || isObjectAt(text, start) || isArrayAt(text, start);
  if (key === undefined || !(isLong || isScalar(text.slice(start, end)))) return "no-json";
  return { key, keyStart: at, start, end };
}

/** Undefined: it is no JSON. */
function keyOf(text: string, start: number, end: number): string | undefined {
  try {
    return stringAt(text, { start, end });
  } catch {
    return undefined;
  }
}

/** Of those that are no strings most need no parser to be known. */
function isScalar(text: string): boolean {
  return commonScalar.test(text) || isJson(text);
}

const commonScalar = /^(?:true|false|null|0|[1-9]\d*)$/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
