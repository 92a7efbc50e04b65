import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../chat/request-object.ts";

/** The JSON object that a text is; undefined when it is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
