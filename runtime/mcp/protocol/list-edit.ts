import {
  applyEdits,
  elementsOf,
  isArrayAt,
  isObjectAt,
  type Member,
  objectMembers,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import { ITEM_LIST_NAMES, type ItemList, itemLists, type McpPrimitiveKind } from "./item-lists.ts";
import { type Message, readMessage, textAt } from "./message.ts";
import { readFields } from "./message-fields.ts";

/** One entry of a list: a tool, prompt, resource or resource template. */
export interface ListedItem {
  readonly kind: McpPrimitiveKind;
  readonly list: ItemList;
  /** Its name, URI or URI template. */
  readonly name: string;
  /** The whole entry, as JSON text. */
  readonly text: string;
}

/** Decides about an entry: returns its name or a new one, or `undefined` to remove it. */
export type ItemEdit = (item: ListedItem) => string | undefined;

/** A list in a result. */
export interface ResultList {
  readonly field: ItemList;
  /** The whole array. */
  readonly at: TextRange;
  /** The remaining entries, as JSON text. */
  readonly entries: readonly string[];
  /** Whether an entry was removed or renamed. */
  readonly isChanged: boolean;
}

/**
 * Applies `edit` to the lists in a message's result. The remaining entries keep their bytes except for a changed name.
 * Entries with duplicate keys or without a plain name are removed: a client might read another name in them than the one
 * that was checked. Returns a string that describes the problem if the whole result is malformed.
 */
export function readLists(message: Message, edit: ItemEdit): readonly ResultList[] | string {
  if (message.result === undefined) return [];
  if (!isObjectAt(message.text, message.result.start)) return "the result is not an object";
  const fields = readFields(message.text, message.result.start, RESULT_NAMES);
  if (typeof fields === "string") return fields;
  const lists: ResultList[] = [];
  for (const field of ITEM_LIST_NAMES) {
    const at = fields.get(field);
    // Some servers write null for an empty list.
    if (at === undefined || textAt(message.text, at) === "null") continue;
    if (!isArrayAt(message.text, at.start)) return `${field} is not a list`;
    lists.push({ field, at, ...editEntries(message.text, at, field, edit) });
  }
  return lists;
}

/** Returns the message with its lists edited, as a string; the original string if nothing changes. A problem is an object. */
export function editLists(message: Message, edit: ItemEdit): string | { readonly problem: string } {
  const lists = readLists(message, edit);
  if (typeof lists === "string") return { problem: lists };
  const edits = lists
    .filter((list) => list.isChanged)
    .map(({ at, entries }) => ({ start: at.start, end: at.end, text: `[${entries.join(",")}]` }));
  return applyEdits(message.text, edits);
}

/** Returns the JSON text of an entry under another name. */
export function renamedEntry({ list, name, text }: ListedItem, renamed: string): string {
  if (renamed === name) return text;
  const { nameField } = itemLists[list];
  const at = nameOf(text, { start: 0, end: text.length }, nameField, new Set([nameField]));
  return at === undefined
    ? text
    : applyEdits(text, [{ start: at.start, end: at.end, text: JSON.stringify(renamed) }]);
}

/** Removes from a result with lists all members that MCP does not define for lists: nobody has approved what a server adds. */
export function onlyListMembers(text: string): string {
  const message = readMessage(text);
  if (message.kind === "problem" || message.result === undefined) return text;
  const { start, end } = message.result;
  const members = objectMembers(message.text, start);
  const known = members.filter(({ key }) => LIST_MEMBERS.has(key));
  const hasList = members.some(({ key }) => Object.hasOwn(itemLists, key));
  if (!hasList || known.length === members.length) return text;
  const kept = known.map((member) => message.text.slice(member.keyStart, member.end)).join(",");
  return applyEdits(message.text, [{ start, end, text: `{${kept}}` }]);
}

/** Members of the results of lists (MCP 2025-11-25 and 2026-07-28, schema). */
const LIST_MEMBERS: ReadonlySet<string> = new Set([
  ...ITEM_LIST_NAMES,
  ...["nextCursor", "_meta", "resultType", "ttlMs", "cacheScope"],
]);

const RESULT_NAMES: ReadonlySet<string> = new Set([...ITEM_LIST_NAMES, "nextCursor"]);

function editEntries(
  text: string,
  at: TextRange,
  list: ItemList,
  edit: ItemEdit,
): { readonly entries: readonly string[]; readonly isChanged: boolean } {
  const entries: string[] = [];
  let isChanged = false;
  const { kind, nameField } = itemLists[list];
  const known = new Set([nameField]);
  for (const span of elementsOf(text, at.start)) {
    const nameAt = nameOf(text, span, nameField, known);
    const name = stringAt(text, nameAt);
    const entry = textAt(text, span);
    const renamed = name === undefined ? undefined : edit({ kind, list, name, text: entry });
    if (renamed === name && renamed !== undefined) {
      entries.push(entry);
      continue;
    }
    isChanged = true;
    if (renamed === undefined || nameAt === undefined) continue;
    const after = text.slice(nameAt.end, span.end);
    entries.push(text.slice(span.start, nameAt.start) + JSON.stringify(renamed) + after);
  }
  return { entries, isChanged };
}

function nameOf(
  text: string,
  entry: TextRange,
  field: string,
  known: ReadonlySet<string>,
): Member | undefined {
  if (!isObjectAt(text, entry.start)) return undefined;
  const fields = readFields(text, entry.start, known);
  return typeof fields === "string" ? undefined : fields.get(field);
}
