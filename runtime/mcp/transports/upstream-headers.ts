import { USER_HEADER } from "../../auth/connections/user-header.ts";
import type { Exchange } from "../../http/exchange.ts";
import { HeaderNames, withoutLines } from "../../http/headers/header-lines.ts";
import { withoutHeader, withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { ReceivedFields } from "../../http/http1/received-fields.ts";
import type { Credentials, OpenApiTarget, SseTarget, StreamableHttpTarget } from "./target.ts";

type HttpTarget = Pick<
  StreamableHttpTarget | SseTarget | OpenApiTarget,
  "credentials" | "upstream"
> &
  Pick<StreamableHttpTarget, "user">;

/**
 * Returns the client's headers that are forwarded to an HTTP target, as a new flat list: the end-to-end ones without the
 * transport's own headers (the gateway sets them), without those that browsers address to the gateway's origin, and, unless
 * the route forwards them, without credentials. Host is the target's own, unless a policy has set another one.
 */
export function headersForTarget(exchange: Exchange, target: HttpTarget): string[] {
  const { credentials, upstream, user } = target;
  const end = endToEnd(exchange.requestHeaders, "host");
  const headers = withoutHeaders(end, WITHHELD_HEADERS[credentials]);
  headers.push("host", hostForTarget(exchange, upstream));
  return user === undefined ? headers : withUser(headers, user.userOf(exchange));
}

/** Adds the user of a request for the connection to the target, which removes it again. */
function withUser(headers: readonly string[], user: string | undefined): string[] {
  const others = withoutHeader(headers, USER_HEADER);
  return user === undefined ? others : [...others, USER_HEADER, user];
}

/** Returns the Host header of a request to a target. */
export function hostForTarget(
  { upstreamHost }: Exchange,
  { authority }: HttpTarget["upstream"],
): string {
  return upstreamHost ?? authority;
}

/**
 * Returns the headers of a target's response that are forwarded to the client; the gateway sets CORS headers and the
 * session id.
 */
export function headersForClient(headers: readonly string[], credentials: Credentials): string[] {
  const skipped =
    credentials === "forward" ? OWN_RESPONSE_HEADERS : OWN_RESPONSE_HEADERS_AND_COOKIES;
  return withoutHeaders(endToEnd(headers, "mcp-session-id"), skipped);
}

/** Whether all headers of a response are forwarded unchanged. */
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
  // These describe the body; they are derived from it where a revision has them.
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

/** The client's headers that are not forwarded to a target unchanged, in lower case. */
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
