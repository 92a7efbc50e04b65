import type { Exchange } from "../../http/exchange.ts";
import { HeaderNames, withoutLines } from "../../http/headers/header-lines.ts";
import { withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { ReceivedFields } from "../../http/http1/received-fields.ts";
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
  const headers = withoutHeaders(end, WITHHELD_HEADERS[credentials]);
  headers.push("host", hostForTarget(exchange, upstream));
  return headers;
}

/** What a request to a target says in Host. */
export function hostForTarget(
  { upstreamHost }: Exchange,
  { authority }: HttpTarget["upstream"],
): string {
  return upstreamHost ?? authority;
}

/** The headers of a target's response that go on to the client; CORS and the session id are the gateway's own. */
export function headersForClient(headers: readonly string[], credentials: Credentials): string[] {
  const skipped =
    credentials === "forward" ? OWN_RESPONSE_HEADERS : OWN_RESPONSE_HEADERS_AND_COOKIES;
  return withoutHeaders(endToEnd(headers, "mcp-session-id"), skipped);
}

/** Whether all of a response's headers go on to the client as they came. */
export function arePassed({ lines }: ReceivedFields, credentials: Credentials): boolean {
  const own = credentials === "forward" ? ownResponseLines : ownResponseLinesAndCookies;
  return lines !== undefined && withoutLines(lines, own) === lines;
}

const TRANSPORT_HEADERS: ReadonlySet<string> = new Set([
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

const TRANSPORT_HEADERS_AND_CREDENTIALS: ReadonlySet<string> = new Set([
  ...TRANSPORT_HEADERS,
  "authorization",
  "cookie",
]);

/** The headers of a client that do not go on to a target as they are, lower case. */
export const WITHHELD_HEADERS: Readonly<Record<Credentials, ReadonlySet<string>>> = {
  forward: TRANSPORT_HEADERS,
  token: new Set([...TRANSPORT_HEADERS, "cookie"]),
  withhold: TRANSPORT_HEADERS_AND_CREDENTIALS,
};

const OWN_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
]);

const OWN_RESPONSE_HEADERS_AND_COOKIES: ReadonlySet<string> = new Set([
  ...OWN_RESPONSE_HEADERS,
  "set-cookie",
]);

const ownResponseLines = new HeaderNames([...OWN_RESPONSE_HEADERS, "mcp-session-id"]);
const ownResponseLinesAndCookies = new HeaderNames([
  ...OWN_RESPONSE_HEADERS_AND_COOKIES,
  "mcp-session-id",
]);
