import { type AddedFields, addedFields } from "../../http/http1/fields.ts";

/** The name of a provider as clients are told of it in responses. */
export class ShownName {
  readonly #name: string;
  /** Mostly all routes tell of it in the same header, or none does. */
  #header: string | undefined;
  #fields = addedFields([]);

  constructor(name: string) {
    this.#name = name;
  }

  /** What a response says of it in a header; undefined: nothing. */
  in(header: string | undefined): AddedFields {
    if (header !== this.#header) {
      this.#header = header;
      this.#fields = addedFields(header === undefined ? [] : [header, this.#name]);
    }
    return this.#fields;
  }
}
