import { type AddedFields, addedFields, fieldLines } from "../../http/http1/fields.ts";
import { type ReceivedFields, readReceivedFields } from "../../http/http1/received-fields.ts";

/** Head of a cached response, formatted once. */
export class CachedHead {
  readonly fields: ReceivedFields;
  #age: number | undefined;
  #own: AddedFields = addedFields([]);

  constructor(fields: ReceivedFields) {
    this.fields = fields;
  }

  /** Returns the fields that say where a response is from. `age`: seconds. `score`: of a similar request. */
  ownFields(age: number, score: string | undefined): AddedFields {
    if (score !== undefined)
      return addedFields([...hit, "x-cache-score", score, "age", String(age)]);
    if (age !== this.#age) {
      this.#own = addedFields([...hit, "age", String(age)]);
      this.#age = age;
    }
    return this.#own;
  }
}

const hit = ["x-cache", "hit"];

/** Formats a flat list of fields; `undefined` if one is invalid. */
export function cachedHead(headers: readonly string[]): CachedHead | undefined {
  const text = fieldLines(headers);
  if (text === undefined) return undefined;
  const fields = readReceivedFields({ text, bytes: Buffer.from(text, "latin1"), start: 0 }, 0);
  return typeof fields === "string" ? undefined : new CachedHead(fields);
}
