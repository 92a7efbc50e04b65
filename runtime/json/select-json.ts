import {
  isArrayAt,
  isObjectAt,
  type Member,
  objectMembers,
  skipSpace,
  stringAt,
} from "./json-text.ts";

/** Which members of an object are wanted: whole (`true`), or some of theirs. Of a list, those of its first element. */
export interface JsonSelection {
  readonly [name: string]: true | JsonSelection | readonly [JsonSelection];
}

/**
 * Reads the selected members of the object that a text is. The others are passed over: they may be long, and what stands
 * in them is not judged. Undefined: the text is no object to its end. Throws SyntaxError for a selected value.
 */
export function selectJson(
  text: string,
  selection: JsonSelection,
): Record<string, unknown> | undefined {
  const at = skipSpace(text, 0);
  if (!isObjectAt(text, at)) return undefined;
  const members = objectMembers(text, at);
  const end = skipSpace(text, members.at(-1)?.end ?? at + 1);
  const isWhole = text.charAt(end) === "}" && skipSpace(text, end + 1) === text.length;
  return isWhole ? select(text, members, selection) : undefined;
}

function select(
  text: string,
  members: readonly Member[],
  selection: JsonSelection,
): Record<string, unknown> {
  const selected: Record<string, unknown> = {};
  for (const member of members) {
    const { key, start, end } = member;
    const wanted = Object.hasOwn(selection, key) ? selection[key] : undefined;
    if (wanted === undefined) continue;
    if (wanted === true) {
      selected[key] = stringAt(text, member) ?? JSON.parse(text.slice(start, end));
    } else if (isList(wanted)) {
      const first = skipSpace(text, start + 1);
      const hasObject = isArrayAt(text, start) && isObjectAt(text, first);
      if (hasObject) selected[key] = [select(text, objectMembers(text, first), wanted[0])];
    } else if (isObjectAt(text, start)) {
      selected[key] = select(text, objectMembers(text, start), wanted);
    }
  }
  return selected;
}

function isList(wanted: JsonSelection[string] | undefined): wanted is readonly [JsonSelection] {
  return Array.isArray(wanted);
}
