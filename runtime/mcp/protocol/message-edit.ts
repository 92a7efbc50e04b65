import { applyEdits, type Edit, stringAt, type TextRange } from "../../json/json-text.ts";
import { type Message, readMessage } from "./message.ts";

/** A member of `params`; undefined when it is not there, or there twice. */
export function paramOf(message: Message, name: string): TextRange | undefined {
  return message.paramFields?.get(name);
}

/** A string member of `params`. */
export function stringParamOf(message: Message, name: string): string | undefined {
  return stringAt(message.text, paramOf(message, name));
}

/** The message with valid JSON in the place of valid JSON. */
export function edited(message: Message, edits: readonly Edit[]): Message {
  if (edits.length === 0) return message;
  const changed = readMessage(applyEdits(message.text, edits));
  return changed.kind === "problem" ? message : changed;
}

/** A span with another text. */
export function replaced(at: TextRange, text: string): Edit {
  return { start: at.start, end: at.end, text };
}
