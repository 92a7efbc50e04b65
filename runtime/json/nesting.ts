import { endOfValue, skipSpace, tooDeep } from "./json-text.ts";

/** Objects in objects in lists: more than any tool's schema has, and less than what recursion bears. */
export const maxDepth = 256;

/** Whether a text that is JSON holds more objects and lists in one another than may be. */
export function isTooDeep(text: string): boolean {
  return text.length > 2 * maxDepth && endOfValue(text, skipSpace(text, 0), maxDepth) === tooDeep;
}
