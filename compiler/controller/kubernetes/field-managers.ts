import { itemsField, recordOf, textField } from "./json-fields.ts";

/** The name under which this controller writes: for server-side apply, and as the user agent of every other request. */
export const FIELD_MANAGER = "gwc-controller";

/** Conditions that every controller writes of the Gateways that are for it. */
const CONDITIONS = ["Accepted", "Programmed"].map((type) => `k:${JSON.stringify({ type })}`);

/** Whether an object was applied by this controller. */
export function isAppliedHere(object: unknown): boolean {
  return entriesOf(object).some((each) => isApplied(each) && isHere(each));
}

/** Whether somebody else applied an object as the part of an owner, too: it is theirs from then on. */
export function isTakenOver(object: unknown): boolean {
  return entriesOf(object).some(
    (each) =>
      isApplied(each) &&
      !isHere(each) &&
      fieldsOf(each, "f:metadata", "f:ownerReferences") !== undefined,
  );
}

/** Whether this controller wrote the conditions of a status, and nobody else has written any of them since. */
export function hasOwnConditions(object: unknown): boolean {
  const writers = entriesOf(object).filter((entry) =>
    CONDITIONS.some((each) => fieldsOf(entry, "f:status", "f:conditions", each) !== undefined),
  );
  return writers.length > 0 && writers.every(isHere);
}

function entriesOf(object: unknown): readonly unknown[] {
  return itemsField(recordOf(object)?.metadata, "managedFields");
}

function isApplied(entry: unknown): boolean {
  return textField(entry, "operation") === "Apply" && textField(entry, "subresource") === undefined;
}

function isHere(entry: unknown): boolean {
  return textField(entry, "manager") === FIELD_MANAGER;
}

function fieldsOf(entry: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => recordOf(value)?.[name], recordOf(entry)?.fieldsV1);
}
