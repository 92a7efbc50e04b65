import type { Exchange } from "../../http/exchange.ts";

/** Returns the query that a provider with the client's format may get; empty if it has a key, which is meant for the gateway. */
export function forwardedQuery({ query }: Pick<Exchange, "query">): string {
  return KEY_IN_QUERY.test(query) ? "" : query;
}

/** Matches a key that some clients send in the query. */
const KEY_IN_QUERY = /(?:^|&)(?:api[-_]?key|key|access_token|token)=/i;
