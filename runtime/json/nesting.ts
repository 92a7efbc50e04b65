import { TOO_DEEP } from "./json-codes.ts";
import { endOfValue, skipSpace } from "./json-text.ts";

/** Maximum nesting depth of JSON: more than any tool's schema needs, and less than what overflows the stack. */
export const MAX_JSON_DEPTH = 256;

/** Whether a string that may be JSON nests more than `maxDepth` objects and lists. */
export function isTooDeep(text: string, maxDepth = MAX_JSON_DEPTH): boolean {
  return text.length > 2 * maxDepth && endOfValue(text, skipSpace(text, 0), maxDepth) === TOO_DEEP;
}
