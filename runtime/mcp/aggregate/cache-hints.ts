import { stringAt } from "../../json/json-text.ts";
import { textAt } from "../protocol/message.ts";
import type { MessageFields } from "../protocol/message-fields.ts";

/** How long a result that is made of several may be kept, and by whom: as the strictest of them says. */
export class CacheHints {
  #ttl: number | undefined;
  #isPublic = true;

  /** Takes the members of a target's result. What it does not say is the strictest (MCP 2026-07-28, caching). */
  add(text: string, fields: MessageFields): void {
    const at = fields.get("ttlMs");
    const ttl = at === undefined ? 0 : Number(textAt(text, at));
    const own = Number.isFinite(ttl) ? Math.max(ttl, 0) : 0;
    this.#ttl = Math.min(this.#ttl ?? own, own);
    this.#isPublic &&= stringAt(text, fields.get("cacheScope")) === "public";
  }

  /** Members of a result as JSON text. `isForAll`: no rule makes another result of it for somebody else. */
  members(isForAll: boolean): string {
    const scope = this.#isPublic && this.#ttl !== undefined && isForAll ? "public" : "private";
    return `"ttlMs":${this.#ttl ?? 0},"cacheScope":"${scope}"`;
  }
}
