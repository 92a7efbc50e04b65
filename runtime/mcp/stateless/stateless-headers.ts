import type { Exchange } from "../../http/exchange.ts";
import { statelessRevision } from "../protocol/revisions.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";

/** The headers of a client's request of revision 2026-07-28 as they go on to a target that is called as the client calls it. */
export function statelessHeaders(exchange: Exchange, target: StreamableHttpTarget): string[] {
  const headers = headersForTarget(exchange, target);
  headers.push(
    "accept",
    "application/json, text/event-stream",
    "content-type",
    "application/json",
    "mcp-protocol-version",
    statelessRevision,
  );
  for (const name of ["mcp-method", "mcp-name"]) {
    const value = exchange.header(name);
    if (value !== undefined) headers.push(name, value);
  }
  return headers;
}
