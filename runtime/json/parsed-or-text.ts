import { isTooDeep } from "./nesting.ts";

/**
 * Parses JSON; returns the string itself if it is not valid, because a stream was cut or a pattern of a guard matched brackets,
 * or if it is nested so deeply that it could not be written again.
 */
export function parsedOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(text) ? text : value;
  } catch {
    return text;
  }
}
