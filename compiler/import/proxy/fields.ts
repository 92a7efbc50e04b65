import type { DraftFields } from "./route-draft.ts";

/** An object's members; none when it is none. */
export function fieldsIn(value: unknown): DraftFields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A list's items; none when it is none. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of a list, or the one that stands in its place. */
export function textsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
}

/** A text, or a number as one. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
