import type { JsonObject } from "../../../cel/variables.ts";
import type { CacheMark } from "../../chat/content.ts";
import type { PromptCaching } from "../../chat/formats.ts";
import { takesCachePoints } from "./model-family.ts";

/** The most that a request may have. */
const MAX_POINTS = 4;

/** Places the cache points of one request, in the order of its parts: the client's own, and those of the configuration. */
export class CachePoints {
  readonly #caching: PromptCaching | undefined;
  #left: number;
  /** Of what stands before the next point. */
  #words = 0;

  constructor(model: string, caching: PromptCaching | undefined) {
    const isPossible = takesCachePoints(model);
    this.#caching = isPossible ? caching : undefined;
    this.#left = isPossible ? MAX_POINTS : 0;
  }

  /** Where the client wants one. */
  marked(mark: CacheMark | undefined): readonly JsonObject[] {
    return mark === undefined ? [] : this.#point(mark.ttl);
  }

  /** At the end of blocks, when the configuration wants that part cached and it is long enough with all before it. */
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
      this.#words * TOKENS_PER_WORD >= this.#caching.minTokens;
    return isWanted ? this.#point(undefined) : [];
  }

  #point(ttl: CacheMark["ttl"]): readonly JsonObject[] {
    if (this.#left === 0) return [];
    this.#left -= 1;
    return [{ cachePoint: { type: "default", ...(ttl !== undefined && { ttl }) } }];
  }
}

/** The specification's estimate. */
const TOKENS_PER_WORD = 1.3;

/** Of all its texts; data in base64 is one. */
function wordsIn(value: unknown): number {
  if (typeof value === "string") return value.match(/\S+/g)?.length ?? 0;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + wordsIn(each), 0);
}
