import { isJsonObject } from "../../json/json-object.ts";

/**
 * Handling of each field of a response, or of an event of a stream, by a format's reader. `read`: translated, with all that is in
 * it; `dropped`: omitted, as the guide says; a table: an object, or a list of objects. Fields that are not in the table are named
 * to the client.
 */
export type ResponseFields = { readonly [name: string]: "read" | "dropped" | ResponseFields };

/** Maximum number of fields that are named. */
const MAX_NAMES = 20;

/** Collects the fields of one response that other formats do not express. */
export class LostFields {
  readonly #names = new Set<string>();

  /** Takes the fields of an object that are not in a table, and that say something. `path`: that of the object. */
  note(object: unknown, fields: ResponseFields, path = ""): void {
    if (Array.isArray(object)) {
      for (const item of object) this.note(item, fields, path);
      return;
    }
    if (!isJsonObject(object)) return;
    for (const name in object) {
      const handling = fields[name];
      if (handling === "read" || handling === "dropped") continue;
      const value = object[name];
      if (isBlank(value)) continue;
      const at = path === "" ? name : `${path}.${name}`;
      if (handling === undefined) this.add(at);
      else this.note(value, handling, Array.isArray(value) ? `${at}[]` : at);
    }
  }

  add(field: string): void {
    if (this.#names.size < MAX_NAMES) this.#names.add(field);
  }

  /** Returns their names as the value of a header; `undefined` if there are none. */
  get names(): string | undefined {
    if (this.#names.size === 0) return undefined;
    return [...this.#names].map((name) => name.slice(0, 100).replace(NOT_PLAIN, "?")).join(", ");
  }
}

/** Names come from the provider. */
const NOT_PLAIN = /[^\w.[\]:-]/g;

/** Whether a value says nothing: servers send many members that are null, zero or empty. */
function isBlank(value: unknown): boolean {
  if (!value) return true;
  return typeof value === "object" && Object.values(value).every(isBlank);
}
