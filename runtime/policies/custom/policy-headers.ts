import type { EditedHeaders } from "../../http/headers/header-edits.ts";
import { HOP_BY_HOP } from "../../http/headers/hop-by-hop.ts";
import { isFieldValue, isToken } from "../../http/http1/fields.ts";
import type { PolicyHeaders } from "../../policy/policy.ts";

/** Maximum number of characters in the value of a header that a policy sets. */
const MAX_VALUE = 65_536;

/** Maximum number of changes that a policy makes to the headers of one message. */
const MAX_CHANGES = 1000;

/** Headers of a message as a custom policy sees them: it reads the current ones, and its changes are validated edits. */
export class EditableHeaders implements PolicyHeaders {
  readonly #read: (name: string) => string | undefined;
  #edits: EditedHeaders | undefined;
  #changes = 0;

  /** `read`: returns the current value of a header by its lower-case name. `edits`: `undefined` if nothing can be changed. */
  constructor(read: (name: string) => string | undefined, edits: EditedHeaders | undefined) {
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
    this.#open().set(editableName(name), validValue(name, value));
  }

  append(name: string, value: string): void {
    this.#open().add(editableName(name), validValue(name, value));
  }

  delete(name: string): void {
    this.#open().remove(editableName(name));
  }

  /** Ends changes: later ones would be lost, or change what others have checked. */
  close(): void {
    this.#edits = undefined;
  }

  /** Counts a change. Each one copies the list, so an endless loop would block the gateway long before memory is full. */
  #open(): EditedHeaders {
    if (this.#edits === undefined)
      throw new TypeError("the headers can no longer be changed: the message has passed the hook");
    this.#changes += 1;
    if (this.#changes > MAX_CHANGES)
      throw new RangeError(`a hook changes at most ${MAX_CHANGES} headers of a message`);
    return this.#edits;
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

/**
 * Throws for line breaks and other characters that would change the message, and for values beyond bounds; the error does not
 * contain the value.
 */
export function validValue(name: string, value: string): string {
  const text = String(value);
  if (text.length > MAX_VALUE)
    throw new RangeError(`the header "${name}" has more than ${MAX_VALUE} characters`);
  if (!isFieldValue(text)) throw new TypeError(`not a valid value of the header "${name}"`);
  return text;
}
