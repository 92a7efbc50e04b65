import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { FetchLimits } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";

/** Any page may read OAuth metadata: it is public, and clients in browsers need it before they have a token. */
const OPEN_TO_ALL = ["access-control-allow-origin", "*"];

const PREFLIGHT = [
  ...OPEN_TO_ALL,
  "access-control-allow-methods",
  "GET, POST, OPTIONS",
  "access-control-allow-headers",
  "Authorization, Content-Type, MCP-Protocol-Version",
  "access-control-max-age",
  "86400",
];

/** Responds with a JSON document. Its content depends on the requested URL, so it must not be cached. */
export function respondJson(exchange: Exchange, status: number, document: JsonObject): void {
  respondBytes(exchange, status, JSON.stringify(document));
}

/** Responds with JSON unchanged. */
function respondBytes(exchange: Exchange, status: number, json: string | Uint8Array): void {
  exchange.respond(
    status,
    [...OPEN_TO_ALL, "content-type", "application/json", "cache-control", "no-store"],
    json,
  );
}

/** Responds to a preflight, or to a method that the endpoint does not support; true if it did. */
export function respondToMethod(exchange: Exchange, allowed: "GET" | "POST"): boolean {
  const { method } = exchange;
  if (method === allowed || (method === "HEAD" && allowed === "GET")) return false;
  if (method === "OPTIONS") exchange.respond(200, PREFLIGHT);
  else exchange.respond(405, [...OPEN_TO_ALL, "allow", `${allowed}, OPTIONS`]);
  return true;
}

/** Limits of an authorization server's response to a forwarded request. */
const LIMITS: FetchLimits = { maxBytes: 512 * 1024, deadline: 10_000 };

/** Maximum bytes of a client's request that is forwarded to the authorization server. */
export const MAX_OAUTH_REQUEST = 65_536;

/** Sends a client's request to its authorization server, and responds as the server does; with 503 if it is not reachable. */
export async function respondAsServer(
  exchange: Exchange,
  url: string,
  headers: readonly string[],
  body: Buffer,
): Promise<void> {
  try {
    const onAbort = exchange.onAbort.bind(exchange);
    const request = { method: "POST", url, headers, body } as const;
    const response = await fetchResponse(request, { ...LIMITS, onAbort });
    respondBytes(exchange, response.status, response.body);
  } catch {
    refuseUnreachable(exchange);
  }
}

/** Refuses a request because the authorization server is not reachable. */
export function refuseUnreachable(exchange: Exchange): void {
  refuse(exchange, 503, "UpstreamFailure", "the authorization server can't be reached");
}
