import { REFERENCE_CONDITIONS } from "../../status/gateway-references.ts";
import { withHistory } from "../../status/history.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";

/** The lists of a status in which each controller has entries of its own; the API server replaces them whole. */
const SHARED_LISTS = ["parents", "ancestors", "parent"];

/** Type of the condition of objects whose newest state is not compiled yet; withdrawn when it is. */
export const DELAYED = "Delayed";

/** Which entries of shared lists are this controller's. */
export type OwnEntry = (entry: unknown) => boolean;

/**
 * The status that an object should have: what is wanted, with the times of changes, and everything that others say of
 * it. `now`: RFC 3339. Without anything wanted, what this controller once said is withdrawn.
 */
export function mergedStatus(
  wanted: { readonly status: object; readonly generation: number | undefined } | undefined,
  object: ApiObject,
  now: string,
  isOwn: OwnEntry,
): unknown {
  const live = recordOf(object.status) ?? {};
  const known = ownStatus(live, isOwn);
  const own = withHistory(wanted?.status ?? {}, known, wanted?.generation, now);
  const merged: Record<string, unknown> = { ...live, ...recordOf(own) };
  for (const list of SHARED_LISTS) {
    if (merged[list] === undefined) continue;
    const others = itemsField(live, list).filter((each) => !isOwn(each));
    merged[list] = [...others, ...itemsField(own, list).map((each) => asKept(each, known, list))];
  }
  if (merged.conditions !== undefined && recordOf(own)?.conditions !== undefined) {
    const types = [
      ...REFERENCE_CONDITIONS,
      DELAYED,
      ...itemsField(own, "conditions").map((each) => textField(each, "type")),
    ];
    const others = itemsField(live, "conditions").filter(
      (each) => !types.includes(textField(each, "type")),
    );
    merged.conditions = [...itemsField(own, "conditions"), ...others];
  }
  return merged;
}

/** Whether two statuses say the same; the order of an object's fields says nothing. */
export function isSameStatus(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return (
      one.length === other.length && one.every((each, index) => isSameStatus(each, other[index]))
    );
  const [a, b] = [recordOf(one), recordOf(other)];
  if (a === undefined || b === undefined) return one === other;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSameStatus(a[name], b[name]));
}

/** An entry as the API server keeps it: the first definitions of InferencePools have no field for who wrote it. */
function asKept(entry: unknown, known: unknown, list: string): unknown {
  const { controllerName: _, ...others } = recordOf(entry) ?? {};
  const isNameless = itemsField(known, list).some(
    (each) =>
      textField(each, "controllerName") === undefined &&
      isSameStatus(recordOf(each)?.parentRef, others.parentRef),
  );
  return isNameless ? others : entry;
}

function ownStatus(live: Readonly<Record<string, unknown>>, isOwn: OwnEntry): unknown {
  const lists = SHARED_LISTS.filter((list) => live[list] !== undefined);
  return {
    ...live,
    ...Object.fromEntries(lists.map((list) => [list, itemsField(live, list).filter(isOwn)])),
  };
}
