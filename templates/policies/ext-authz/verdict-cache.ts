import type { PolicySettings } from "../../../compiler/ir/policies.ts";
import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { milliseconds } from "../../code/units.ts";

/** An authorization server, and the requests to it. */
export type AuthorizerSettings = PolicySettings["extAuthz"]["cases"][number]["value"];

/** Writes the cache of an authorization server's verdicts. */
export function verdictCache({ ttl, maxEntries }: NonNullable<AuthorizerSettings["cache"]>): Code {
  const open = imported("gwc/runtime/policies/ext-authz/verdict-cache", "openVerdictCache");
  return code`${open}(${literal({ ttl: typeof ttl === "number" ? milliseconds(ttl) : undefined, maxEntries })})`;
}
