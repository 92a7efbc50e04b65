import {
  endOfList,
  endOfString,
  endOfValue,
  isArrayAt,
  isObjectAt,
  nextItem,
  skipSpace,
  stringAt,
} from "./json-text.ts";

/** Which members of an object are wanted: whole (`true`), or some of theirs. Of a list, those of its first element. */
export interface JsonSelection {
  readonly [name: string]: true | JsonSelection | readonly [JsonSelection];
}

/** Reads what is selected of the object that a text is; undefined: it is no object to its end. Throws SyntaxError for a selected value. */
export type JsonSelector = (text: string) => Record<string, unknown> | undefined;

/**
 * Makes the reader of a selection. It looks at a text once: members that nobody wants are passed over, for they may be
 * long, and what stands in them is not judged.
 */
export function jsonSelector(selection: JsonSelection): JsonSelector {
  const wanted = wantedOf(selection);
  return (text) => {
    const at = skipSpace(text, 0);
    if (!isObjectAt(text, at)) return undefined;
    const selected: Record<string, unknown> = {};
    const end = readMembers(text, at, wanted, selected);
    const isWhole = text.charAt(end) === "}" && skipSpace(text, end + 1) === text.length;
    return isWhole ? selected : undefined;
  };
}

/** One member of a selection. */
interface Wanted {
  readonly name: string;
  /** As most write it. */
  readonly quoted: string;
  /** What of its value: all, some members, or some members of a list's first element. */
  readonly part: "whole" | "members" | "first";
  readonly members: readonly Wanted[];
}

function wantedOf(selection: JsonSelection): readonly Wanted[] {
  return Object.entries(selection).map(([name, part]): Wanted => {
    const quoted = JSON.stringify(name);
    if (part === true) return { name, quoted, part: "whole", members: [] };
    if (isList(part)) return { name, quoted, part: "first", members: wantedOf(part[0]) };
    return { name, quoted, part: "members", members: wantedOf(part) };
  });
}

function isList(part: JsonSelection | readonly [JsonSelection]): part is readonly [JsonSelection] {
  return Array.isArray(part);
}

/** Reads the object at `at`; where its closing brace is. */
function readMembers(
  text: string,
  at: number,
  wanted: readonly Wanted[],
  selected: Record<string, unknown>,
): number {
  let i = skipSpace(text, at + 1);
  while (i < text.length && text.charAt(i) !== "}") {
    const keyEnd = endOfString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const member = wantedAt(text, i, keyEnd, wanted);
    const end =
      member === undefined ? endOfValue(text, start) : readValue(text, start, member, selected);
    i = nextItem(text, end);
  }
  return i;
}

function wantedAt(
  text: string,
  at: number,
  end: number,
  wanted: readonly Wanted[],
): Wanted | undefined {
  for (const member of wanted) {
    if (member.quoted.length === end - at && text.startsWith(member.quoted, at)) return member;
  }
  for (let i = at; i < end; i++) {
    if (text.charCodeAt(i) !== backslash) continue;
    const key = stringAt(text, { start: at, end });
    return wanted.find(({ name }) => name === key);
  }
  return undefined;
}

const backslash = 0x5c;

/** Reads the value of a wanted member; where it ends. */
function readValue(
  text: string,
  start: number,
  { name, part, members }: Wanted,
  selected: Record<string, unknown>,
): number {
  if (part === "members" && isObjectAt(text, start)) {
    const some: Record<string, unknown> = {};
    selected[name] = some;
    return readMembers(text, start, members, some) + 1;
  }
  if (part === "first" && isArrayAt(text, start)) {
    const first = skipSpace(text, start + 1);
    if (isObjectAt(text, first)) {
      const some: Record<string, unknown> = {};
      selected[name] = [some];
      return endOfList(text, readMembers(text, first, members, some) + 1);
    }
  }
  const end = endOfValue(text, start);
  if (part === "whole") {
    const span = { start, end };
    selected[name] = stringAt(text, span) ?? JSON.parse(text.slice(start, end));
  }
  return end;
}
