import { AmbiguousRequest } from "../ambiguous-request.ts";
import type { Exchange } from "../exchange.ts";
import { headerLines } from "../headers/header-list.ts";
import { otherQueryValue, queryValue } from "./query.ts";

/** Headers that are lists by definition (RFC 9110, 9111, 7239, 6265): every server joins their lines. */
const LIST_HEADERS: ReadonlySet<string> = new Set([
  ...["accept", "accept-charset", "accept-encoding", "accept-language", "cache-control"],
  ...["cookie", "forwarded", "if-match", "if-none-match", "pragma", "te", "trailer", "via"],
]);

/**
 * Returns the value of a header for the match of a route; `undefined` if it is absent. Throws `AmbiguousRequest` if the header
 * has several lines and is not a list, because servers may read another line than the match.
 */
export function matchedHeader(exchange: Exchange, name: string): string | undefined {
  const value = exchange.header(name);
  if (!exchange.hasReadRepeated || LIST_HEADERS.has(name)) return value;
  if (headerLines(exchange.requestHeaders, name).length > 1)
    throw new AmbiguousRequest(`the header ${name} is repeated`);
  return value;
}

/**
 * Returns the value of a query parameter for the match of a route; `undefined` if it is absent. Throws `AmbiguousRequest` if
 * the parameter has different values, because servers may read another one than the match.
 */
export function matchedParameter({ query }: Exchange, name: string): string | undefined {
  if (otherQueryValue(query, name) !== undefined)
    throw new AmbiguousRequest(`the query parameter ${name} has several values`);
  return queryValue(query, name);
}
