import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { LlmRefusal } from "./llm-error.ts";

/**
 * An object of a client's request, read field by field. A field of the wrong type is refused with a 400 that names it. Null
 * means absent, as clients in many languages write it.
 */
export class RequestObject {
  readonly #object: JsonObject;
  /** Path of the object in the body: `messages[2]`; empty for the body itself. */
  readonly path: string;

  constructor(object: JsonObject, path = "") {
    this.#object = object;
    this.path = path;
  }

  /** Throws LlmRefusal if the value is not an object. */
  static of(value: unknown, path: string): RequestObject {
    if (!isJsonObject(value)) throw wrongField(path, "an object");
    return new RequestObject(value, path);
  }

  get keys(): readonly string[] {
    return Object.keys(this.#object);
  }

  /** Returns the fields of some names that are present, as they are. */
  some(names: readonly string[]): JsonObject {
    const present = names.filter((name) => this.any(name) !== undefined);
    return Object.fromEntries(present.map((name) => [name, this.any(name)]));
  }

  /** Returns the path of a field. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** Returns the raw value; `undefined` if it is absent or null. */
  any(name: string): unknown {
    return (Object.hasOwn(this.#object, name) ? this.#object[name] : undefined) ?? undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#absent(name);
  }

  optionalText(name: string): string | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "string") return value;
    throw wrongField(this.at(name), "a string");
  }

  number(name: string): number | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "number") return value;
    throw wrongField(this.at(name), "a number");
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw wrongField(this.at(name), "true or false");
  }

  /** Returns one of a few words. */
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.optionalText(name);
    const word = words.find((each) => each === value);
    if (value !== undefined && word === undefined) {
      throw wrongField(this.at(name), `one of ${words.join(", ")}`);
    }
    return word;
  }

  object(name: string): RequestObject | undefined {
    const value = this.any(name);
    return value === undefined ? undefined : RequestObject.of(value, this.at(name));
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.any(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw wrongField(this.at(name), "a list");
  }

  /** Returns a list of objects; empty if absent. */
  objects(name: string): readonly RequestObject[] {
    const items = this.list(name) ?? [];
    return items.map((item, index) => RequestObject.of(item, `${this.at(name)}[${index}]`));
  }

  /** Returns a list of strings; empty if absent. */
  texts(name: string): readonly string[] {
    const items = this.list(name) ?? [];
    return items.map((item, index) => {
      if (typeof item === "string") return item;
      throw wrongField(`${this.at(name)}[${index}]`, "a string");
    });
  }

  #absent(name: string): never {
    const field = this.at(name);
    throw new LlmRefusal({ kind: "invalid", message: `"${field}" is missing`, field });
  }
}

/** Returns a string, or the strings of content parts joined by a separator. */
export function joinedTexts(content: unknown, separator = ""): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) => (isJsonObject(part) && typeof part.text === "string" ? [part.text] : []))
    .join(separator);
}

/** Returns the refusal of a field with the wrong type or value. */
export function wrongField(field: string, expected: string): LlmRefusal {
  return new LlmRefusal({ kind: "invalid", message: `"${field}" must be ${expected}`, field });
}

/** Returns the refusal of a field that no other format supports. */
export function unsupportedField(field: string, what = `"${field}"`): LlmRefusal {
  return new LlmRefusal({
    kind: "unsupported",
    message: `${what} is not supported by the provider of this route`,
    field,
  });
}
