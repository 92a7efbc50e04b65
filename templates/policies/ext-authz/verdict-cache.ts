import type { VerdictCacheNode } from "../../../compiler/policies/ext-authz/ext-authz-config.ts";
import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { milliseconds } from "../../code/units.ts";

/** Writes the cache of an authorization server's verdicts. */
export function verdictCache({ ttl, maxEntries }: VerdictCacheNode): Code {
  const open = imported("gwc/runtime/policies/ext-authz/verdict-cache", "openVerdictCache");
  return code`${open}(${literal({ ttl: typeof ttl === "number" ? milliseconds(ttl) : undefined, maxEntries })})`;
}
