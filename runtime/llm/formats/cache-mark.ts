import type { CacheMark } from "../chat/content.ts";
import type { NoteFeature } from "../chat/features.ts";
import type { RequestObject } from "../chat/request-object.ts";

/**
 * Reads `cache_control` of a block, a message or a tool, in the words of the Messages API; clients of other formats use them
 * too. Throws LlmRefusal.
 */
export function readCacheMark(block: RequestObject, note: NoteFeature): CacheMark | undefined {
  const control = block.object("cache_control");
  if (control === undefined) return undefined;
  note("cacheMarks", block.at("cache_control"));
  return { ttl: control.choice("ttl", ["5m", "1h"]) };
}
