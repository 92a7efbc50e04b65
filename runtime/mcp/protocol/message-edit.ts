import { applyEdits, type Edit, stringAt, type TextRange } from "../../json/json-text.ts";
import { type Message, readMessage } from "./message.ts";

/** Returns a member of `params`; `undefined` if it is absent or a duplicate. */
export function paramOf(message: Message, name: string): TextRange | undefined {
  return message.paramFields?.get(name);
}

/** Returns a string member of `params`. */
export function stringParamOf(message: Message, name: string): string | undefined {
  return stringAt(message.text, paramOf(message, name));
}

/** Applies edits that replace valid JSON with valid JSON. */
export function edited(message: Message, edits: readonly Edit[]): Message {
  if (edits.length === 0) return message;
  const changed = readMessage(applyEdits(message.text, edits));
  return changed.kind === "problem" ? message : changed;
}

/** Returns an edit that replaces a range with another string. */
export function replaced(at: TextRange, text: string): Edit {
  return { start: at.start, end: at.end, text };
}
