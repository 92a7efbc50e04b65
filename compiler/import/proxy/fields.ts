import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { DraftFields } from "./route-draft.ts";

/** Returns the members of an object; empty for other values. */
export function fieldsIn(value: unknown): DraftFields {
  return isJsonObject(value) ? { ...value } : {};
}

/** Returns the items of a list; empty for other values. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the strings of a list, or a single string as a list. */
export function textsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
}

/** Returns a string, or a number as a string; `undefined` for other values. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
