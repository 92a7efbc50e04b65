import type { JsonObject } from "../../../cel/variables.ts";
import type { CacheMark } from "../../chat/content.ts";
import type { PromptCaching } from "../../chat/formats.ts";
import { lastCached } from "../last-cached.ts";
import { tokensOfWords, wordsIn } from "../prompt-words.ts";
import { takesCachePoints } from "./model-family.ts";

/** Maximum number of cache points in a request. */
const MAX_POINTS = 4;

/** Places the cache points of one request, in the order of its parts: the client's own, and the configured ones. */
export class CachePoints {
  readonly #caching: PromptCaching | undefined;
  #left: number;
  /** Number of words before the next point. */
  #words = 0;

  constructor(model: string, caching: PromptCaching | undefined) {
    const isPossible = takesCachePoints(model);
    this.#caching = isPossible ? caching : undefined;
    this.#left = isPossible ? MAX_POINTS : 0;
  }

  /** Returns the index of the last of several messages that is cached; negative if none is. */
  lastCached(length: number): number {
    return this.#caching === undefined ? -1 : lastCached(length, this.#caching);
  }

  /** Returns the point of a client's cache mark. */
  marked(mark: CacheMark | undefined): readonly JsonObject[] {
    return mark === undefined ? [] : this.#point(mark.ttl);
  }

  /**
   * Returns a point at the end of blocks, if the configuration wants that part cached and the prompt so far is long enough.
   */
  after(
    part: "system" | "messages" | "tools" | undefined,
    blocks: readonly JsonObject[],
  ): readonly JsonObject[] {
    for (const block of blocks) this.#words += wordsIn(block);
    const isWanted =
      part !== undefined &&
      this.#caching?.[part] === true &&
      blocks.length > 0 &&
      blocks.at(-1)?.cachePoint === undefined &&
      tokensOfWords(this.#words) >= this.#caching.minTokens;
    return isWanted ? this.#point(undefined) : [];
  }

  #point(ttl: CacheMark["ttl"]): readonly JsonObject[] {
    if (this.#left === 0) return [];
    this.#left -= 1;
    return [{ cachePoint: { type: "default", ...(ttl !== undefined && { ttl }) } }];
  }
}
