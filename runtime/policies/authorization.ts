import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/**
 * Answers a request that the route's rules do not allow; the log says which one forbids it. `challenge`: what `StepUp` says
 * to a client that lacks nothing but scopes.
 */
export function denyForbidden(exchange: Exchange, { rule }: RuleVerdict, challenge?: string): void {
  logFields(exchange.record).set("rule", rule);
  const headers = challenge === undefined ? [] : ["www-authenticate", challenge];
  refuse(exchange, 403, "Authorization", "authorization failed", headers);
}
