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

/** Answers with a JSON document. What it says depends on the URL it was asked under: no cache in between keeps it. */
export function respondJson(exchange: Exchange, status: number, document: JsonObject): void {
  respondBytes(exchange, status, JSON.stringify(document));
}

/** The same, with JSON as it came. */
export function respondBytes(exchange: Exchange, status: number, json: string | Uint8Array): void {
  exchange.respond(
    status,
    [...OPEN_TO_ALL, "content-type", "application/json", "cache-control", "no-store"],
    json,
  );
}

/** Answers a preflight, or a method that the endpoint does not have; true when it did. */
export function respondToMethod(exchange: Exchange, allowed: "GET" | "POST"): boolean {
  const { method } = exchange;
  if (method === allowed || (method === "HEAD" && allowed === "GET")) return false;
  if (method === "OPTIONS") exchange.respond(200, PREFLIGHT);
  else exchange.respond(405, [...OPEN_TO_ALL, "allow", `${allowed}, OPTIONS`]);
  return true;
}
