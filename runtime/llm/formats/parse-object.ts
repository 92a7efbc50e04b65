import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { isTooDeep } from "../../json/nesting.ts";

/** Parses a JSON object; `undefined` for any other string, or if it is nested too deeply. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !isTooDeep(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a value of a provider's JSON if it is a string. */
export function providerText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Whether a value of a provider's JSON is a non-empty string. */
export function isFilledText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
