import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";

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
export function respondBytes(exchange: Exchange, status: number, json: string | Uint8Array): void {
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
