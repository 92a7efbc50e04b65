import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { snakeCase } from "../../chat/member-words.ts";
import { RequestObject, wrongField } from "../../chat/request-object.ts";

/**
 * An object of a request in Google's API, whose members have two spellings: `maxOutputTokens` and `max_output_tokens`. Its
 * methods take the first one; paths have the spelling of the client.
 */
export class GoogleObject extends RequestObject {
  static override of(value: unknown, path: string): GoogleObject {
    if (!isJsonObject(value)) throw wrongField(path, "an object");
    return new GoogleObject(value, path);
  }

  override get keys(): readonly string[] {
    return super.keys.map(camelCase);
  }

  override at(name: string): string {
    return super.at(this.#spelled(name));
  }

  override any(name: string): unknown {
    return super.any(this.#spelled(name));
  }

  override object(name: string): GoogleObject | undefined {
    const value = this.any(name);
    return value === undefined ? undefined : GoogleObject.of(value, this.at(name));
  }

  override objects(name: string): readonly GoogleObject[] {
    const items = this.list(name) ?? [];
    return items.map((item, index) => GoogleObject.of(item, `${this.at(name)}[${index}]`));
  }

  #spelled(name: string): string {
    return super.any(name) === undefined && super.any(snakeCase(name)) !== undefined
      ? snakeCase(name)
      : name;
  }
}

/** Returns a copy of an object of Google's whose own members have the first spelling. */
export function camelMembers(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [camelCase(key), value]));
}

function camelCase(name: string): string {
  return name.replace(/(?<=[a-zA-Z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
