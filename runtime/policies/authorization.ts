import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/**
 * Refuses a request that the route's rules deny; the log names the rule. `challenge`: the result of `StepUp` for a client
 * that lacks only scopes.
 */
export function denyForbidden(exchange: Exchange, { rule }: RuleVerdict, challenge?: string): void {
  logFields(exchange.record).set("rule", rule);
  const headers = challenge === undefined ? [] : ["www-authenticate", challenge];
  refuse(exchange, 403, "Authorization", "authorization failed", headers);
}
