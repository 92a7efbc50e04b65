import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { SESSION_REVISIONS, STATELESS_REVISION } from "./revisions.ts";

/**
 * Checks the request's head as MCP's streamable HTTP transport requires. If something is wrong, responds with 405, 406, 415
 * or 400 and returns false.
 */
export function passesTransportChecks(exchange: Exchange): boolean {
  switch (exchange.method) {
    case "POST":
      if (!accepts(exchange, "application", "json") || !accepts(exchange, "text", "event-stream")) {
        refuse(exchange, 406, "MCP", "Accept must list application/json and text/event-stream");
        return false;
      }
      if (!isJson(exchange.header("content-type"))) {
        refuse(exchange, 415, "MCP", "Content-Type must be application/json");
        return false;
      }
      if (!isPlain(exchange.header("content-encoding"))) {
        refuse(exchange, 415, "MCP", "Content-Encoding is not supported");
        return false;
      }
      break;
    case "GET":
      if (!accepts(exchange, "text", "event-stream")) {
        refuse(exchange, 406, "MCP", "Accept must list text/event-stream");
        return false;
      }
      break;
    case "DELETE":
      break;
    default:
      refuseHttpMethod(exchange, "GET, POST, DELETE");
      return false;
  }
  return passesVersionCheck(exchange);
}

/** Refuses an HTTP method; `allowed` lists the methods that are supported. */
export function refuseHttpMethod(exchange: Exchange, allowed: string): void {
  refuse(exchange, 405, "MCP", "Method not allowed", ["allow", allowed]);
}

/** Checks the version of a request. A POST passes: its refusal needs the id in the body (see serve-stateless.ts). */
function passesVersionCheck(exchange: Exchange): boolean {
  const version = exchange.header("mcp-protocol-version");
  if (version === undefined || SESSION_REVISIONS.has(version) || exchange.method === "POST") {
    return true;
  }
  if (version >= STATELESS_REVISION) {
    refuseHttpMethod(exchange, "POST");
  } else {
    refuse(exchange, 400, "MCP", "Unsupported MCP-Protocol-Version");
  }
  return false;
}

/** The Accept header that the SDKs send with every POST. */
const DEFAULT_ACCEPT = "application/json, text/event-stream";

function accepts(exchange: Exchange, type: string, subtype: string): boolean {
  const header = exchange.header("accept");
  if (header === undefined) return false;
  if (header === DEFAULT_ACCEPT) return true;
  for (const range of header.toLowerCase().split(",")) {
    const semicolon = range.indexOf(";");
    const name = (semicolon === -1 ? range : range.slice(0, semicolon)).trim();
    if (name === `${type}/${subtype}` || name === `${type}/*` || name === "*/*") return true;
  }
  return false;
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === "identity";
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const semicolon = contentType.indexOf(";");
  const name = semicolon === -1 ? contentType : contentType.slice(0, semicolon);
  return name.trim().toLowerCase() === "application/json";
}
