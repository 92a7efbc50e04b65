import type { Exchange } from "../../http/exchange.ts";
import { withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { Credentials, OpenApiTarget, SseTarget, StreamableHttpTarget } from "./target.ts";

type HttpTarget = Pick<
  StreamableHttpTarget | SseTarget | OpenApiTarget,
  "credentials" | "upstream"
>;

/**
 * The client's headers that go on to an HTTP target, as a fresh flat list: end-to-end ones, less those that the gateway
 * sets itself (the transport's own), those that browsers address to the gateway's origin, and, unless the route forwards
 * them, credentials. Host is the target's own, unless a policy has decided on another one.
 */
export function headersForTarget(exchange: Exchange, target: HttpTarget): string[] {
  const { credentials, upstream } = target;
  const end = endToEnd(exchange.requestHeaders, "host");
  const headers = withoutHeaders(end, skippedHeaders[credentials]);
  headers.push("host", exchange.upstreamHost ?? upstream.authority);
  return headers;
}

/** The headers of a target's response that go on to the client; CORS and the session id are the gateway's own. */
export function headersForClient(headers: readonly string[], credentials: Credentials): string[] {
  const skipped = credentials === "forward" ? ownResponseHeaders : ownResponseHeadersAndCookies;
  return withoutHeaders(endToEnd(headers, "mcp-session-id"), skipped);
}

const transportHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "content-type",
  "content-encoding",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  // Claims about the body, which are made of it where a revision has them.
  "mcp-method",
  "mcp-name",
  "origin",
  "referer",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "sec-fetch-user",
  "access-control-request-headers",
  "access-control-request-method",
]);

const transportHeadersAndCredentials: ReadonlySet<string> = new Set([
  ...transportHeaders,
  "authorization",
  "cookie",
]);

const skippedHeaders: Readonly<Record<Credentials, ReadonlySet<string>>> = {
  forward: transportHeaders,
  token: new Set([...transportHeaders, "cookie"]),
  withhold: transportHeadersAndCredentials,
};

const ownResponseHeaders: ReadonlySet<string> = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
]);

const ownResponseHeadersAndCookies: ReadonlySet<string> = new Set([
  ...ownResponseHeaders,
  "set-cookie",
]);
