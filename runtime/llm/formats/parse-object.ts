import type { JsonObject } from "../../cel/variables.ts";
import { isObject } from "../chat/fields.ts";

/** The JSON object that a text is; undefined when it is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
