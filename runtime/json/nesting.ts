import { TOO_DEEP } from "./json-codes.ts";
import { endOfValue, skipSpace } from "./json-text.ts";

/** Objects in objects in lists: more than any tool's schema has, and less than what recursion bears. */
export const MAX_JSON_DEPTH = 256;

/** Whether a text that may be JSON holds more objects and lists in one another than `most`. */
export function isTooDeep(text: string, most = MAX_JSON_DEPTH): boolean {
  return text.length > 2 * most && endOfValue(text, skipSpace(text, 0), most) === TOO_DEEP;
}
