import { stringAt } from "../../json/json-text.ts";
import { textAt } from "../protocol/message.ts";
import type { MessageFields } from "../protocol/message-fields.ts";

/** The cache lifetime and scope of a merged result: the strictest of its parts. */
export class CacheHints {
  #ttl: number | undefined;
  #isPublic = true;

  /** Adds the members of a target's result. Absent members count as the strictest value (MCP 2026-07-28, caching). */
  add(text: string, fields: MessageFields): void {
    const at = fields.get("ttlMs");
    const ttl = at === undefined ? 0 : Number(textAt(text, at));
    const own = Number.isFinite(ttl) ? Math.max(ttl, 0) : 0;
    this.#ttl = Math.min(this.#ttl ?? own, own);
    this.#isPublic &&= stringAt(text, fields.get("cacheScope")) === "public";
  }

  /** Returns the members of the result as JSON text. `isForAll`: no rule makes the result depend on the caller. */
  members(isForAll: boolean): string {
    const scope = this.#isPublic && this.#ttl !== undefined && isForAll ? "public" : "private";
    return `"ttlMs":${this.#ttl ?? 0},"cacheScope":"${scope}"`;
  }
}
