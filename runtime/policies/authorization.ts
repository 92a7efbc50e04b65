import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/** Answers a request that the route's rules do not allow; the log says which one forbids it. */
export function denyForbidden(exchange: Exchange, { rule }: RuleVerdict): void {
  logFields(exchange.record).set("rule", rule);
  refuse(exchange, 403, "Authorization", "authorization failed");
}
