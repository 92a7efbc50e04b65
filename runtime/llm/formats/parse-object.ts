import type { JsonObject } from "../../cel/variables.ts";
import { isTooDeep } from "../../json/nesting.ts";
import { isJsonObject } from "../chat/request-object.ts";

/** The JSON object that a text is; undefined when it is none, or nested too deeply. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !isTooDeep(text) ? value : undefined;
  } catch {
    return undefined;
  }
}
