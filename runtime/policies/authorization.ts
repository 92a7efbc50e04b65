import type { JwtVariable, RequestVariables } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";

/** What an authorization rule reads. */
export interface RuleInput {
  readonly request: RequestVariables;
  readonly jwt: JwtVariable;
}

/** Answers a request that the route's rules do not allow. */
export function refuseUnauthorized(exchange: Exchange): void {
  refuse(exchange, 403, "Authorization", "authorization failed");
}
