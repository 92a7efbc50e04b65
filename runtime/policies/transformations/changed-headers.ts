import { fieldText } from "../../cel/values/field-text.ts";
import { type EditedHeaders, editHeader } from "../../http/headers/header-edits.ts";
import { fieldValue } from "./field-value.ts";
import type { MessageChanges } from "./message-changes.ts";

/** Adds, sets and removes headers, in this order. A failed value is not added. */
export function changeHeaders(
  headers: EditedHeaders,
  { add = [], set = [], remove = [] }: Pick<MessageChanges, "add" | "set" | "remove">,
): void {
  for (const [name, value] of add) {
    const text = fieldText(value);
    if (text !== undefined) editHeader(headers, name, fieldValue(text), "append");
  }
  for (const [name, value] of set) editHeader(headers, name, fieldValue(value), "overwrite");
  for (const name of remove) headers.remove(name);
}
