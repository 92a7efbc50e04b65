import type { EditedHeaders } from "../../http/headers/header-edits.ts";
import { HOP_BY_HOP } from "../../http/headers/hop-by-hop.ts";
import { isFieldValue, isToken } from "../../http/http1/fields.ts";
import type { PolicyHeaders } from "../../policy/policy.ts";

/** Headers of a message as a custom policy sees them: it reads the current ones, and its changes are validated edits. */
export class EditableHeaders implements PolicyHeaders {
  readonly #read: (name: string) => string | undefined;
  readonly #edits: EditedHeaders;

  /** `read`: returns the current value of a header by its lower-case name. */
  constructor(read: (name: string) => string | undefined, edits: EditedHeaders) {
    this.#read = read;
    this.#edits = edits;
  }

  get(name: string): string | null {
    return this.#read(String(name).toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#read(String(name).toLowerCase()) !== undefined;
  }

  set(name: string, value: string): void {
    this.#edits.set(editableName(name), validValue(name, value));
  }

  append(name: string, value: string): void {
    this.#edits.add(editableName(name), validValue(name, value));
  }

  delete(name: string): void {
    this.#edits.remove(editableName(name));
  }
}

/** Returns the lower-case name. Throws for names that are not valid, and for those whose value the gateway writes itself. */
export function editableName(name: string): string {
  // Of an object that only looks like a string, the same text must be checked and sent.
  const lower = String(name).toLowerCase();
  if (!isToken(lower)) throw new TypeError("not a valid header name");
  if (HOP_BY_HOP.has(lower) || lower === "host")
    throw new TypeError(`the gateway sets the header "${lower}" itself`);
  return lower;
}

/** Throws for line breaks and other characters that would change the message; the error does not contain the value. */
export function validValue(name: string, value: string): string {
  const text = String(value);
  if (!isFieldValue(text)) throw new TypeError(`not a valid value of the header "${name}"`);
  return text;
}
