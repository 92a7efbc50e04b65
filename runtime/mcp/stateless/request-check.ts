import type { Exchange } from "../../http/exchange.ts";
import { isHeader } from "../../http/headers/header-list.ts";
import { stringAt } from "../../json/json-text.ts";
import { readEnvelope } from "../protocol/envelope.ts";
import { decodeHeader } from "../protocol/header-names.ts";
import type { Message } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { isSpecified, NAMED_PARAMS, statelessMethods } from "../protocol/methods.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { type RpcError, rpcCode } from "../protocol/rpc-response.ts";

/** Checks the headers that describe a request of revision 2026-07-28, without its body. */
export function headerProblem(exchange: Exchange): RpcError | undefined {
  for (const name of DESCRIBING) {
    if (isRepeated(exchange, name)) return mismatch(`duplicate ${name}`);
  }
  const requested = exchange.header("mcp-protocol-version");
  if (requested === STATELESS_REVISION) return undefined;
  return {
    code: rpcCode.unsupportedVersion,
    message: "Unsupported protocol version",
    data: { supported: [STATELESS_REVISION], requested },
  };
}

/**
 * Checks a message of revision 2026-07-28 for missing parts and for contradictions with its headers (MCP 2026-07-28,
 * transports). Of methods that the revision does not define, only the name is checked.
 */
export function messageProblem(exchange: Exchange, message: Message): RpcError | undefined {
  if (message.kind === "response") {
    return { code: rpcCode.invalidRequest, message: "Invalid Request: a response" };
  }
  const method = exchange.header("mcp-method");
  // SDKs send notifications without it.
  if (method === undefined && message.kind === "notification") return undefined;
  if (method !== message.method) return mismatch("Mcp-Method does not match the method");
  if (message.kind === "notification" || !isSpecified(statelessMethods, message)) return undefined;
  return envelopeProblem(message) ?? nameProblem(exchange, message);
}

/** Headers that must not be repeated. */
const DESCRIBING = ["mcp-protocol-version", "mcp-method", "mcp-name"] as const;

function isRepeated(exchange: Exchange, name: string): boolean {
  // Repeated headers are joined to a list, so values without a comma need no search.
  if (exchange.header(name)?.includes(", ") !== true) return false;
  const headers = exchange.requestHeaders;
  let isThere = false;
  for (let at = 0; at < headers.length; at += 2) {
    if (!isHeader(headers[at] ?? "", name)) continue;
    if (isThere) return true;
    isThere = true;
  }
  return false;
}

function envelopeProblem(message: Message): RpcError | undefined {
  const envelope = readEnvelope(message);
  if (typeof envelope === "string") return invalid(envelope);
  const { version, capabilities } = envelope;
  if (version === undefined) return invalid("_meta must name the protocol version");
  if (version !== STATELESS_REVISION) return mismatch("MCP-Protocol-Version does not match _meta");
  return capabilities === undefined ? invalid("_meta must have client capabilities") : undefined;
}

function nameProblem(exchange: Exchange, message: Message): RpcError | undefined {
  const field = NAMED_PARAMS.get(message.method);
  if (field === undefined) return undefined;
  const name = stringAt(message.text, paramOf(message, field));
  if (name === undefined) return invalid(`${field} must be a string`);
  const header = exchange.header("mcp-name");
  const isSame = header !== undefined && decodeHeader(header.trim()) === name;
  return isSame ? undefined : mismatch(`Mcp-Name does not match ${field}`);
}

function mismatch(detail: string): RpcError {
  return { code: rpcCode.headerMismatch, message: `Header mismatch: ${detail}` };
}

function invalid(detail: string): RpcError {
  return { code: rpcCode.invalidParams, message: `Invalid params: ${detail}` };
}
