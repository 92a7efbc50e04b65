import { readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { allowed, type RuleVerdict } from "../policies/rule-verdict.ts";
import { resolvePrimitive } from "./aggregate/names.ts";
import {
  serveSessionDelete,
  serveSessionPost,
  serveSessionStream,
} from "./aggregate/serve-session.ts";
import { type PassthroughMessage, passThrough } from "./passthrough/passthrough.ts";
import { type Message, readMessageBytes } from "./protocol/message.ts";
import { isSpecified } from "./protocol/methods.ts";
import { addressedPrimitive } from "./protocol/primitives.ts";
import { respondRpcError, rpcCode } from "./protocol/rpc-response.ts";
import { passesTransportChecks } from "./protocol/transport-check.ts";
import {
  isOpen,
  type McpAuthorization,
  unknownPrimitive,
  verdictOn,
  verdictOnMethod,
} from "./rules/authorization.ts";
import { McpMetrics } from "./rules/mcp-metrics.ts";
import type { McpBackend } from "./transports/backend.ts";

/**
 * Serves an MCP route: streamable HTTP of the revisions with sessions (2025-03-26, 2025-06-18, 2025-11-25). Settles when
 * the request has been handed on; responses may follow.
 */
export async function serveMcp(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Promise<void> {
  if (!passesTransportChecks(exchange)) return;
  switch (exchange.method) {
    case "POST":
      return servePost(exchange, backend, access);
    case "DELETE":
      if (backend.passthrough === undefined) return serveSessionDelete(exchange, backend, access);
      return passThrough(exchange, backend, backend.passthrough, access, undefined);
    default:
      if (backend.passthrough === undefined) return serveSessionStream(exchange, backend, access);
      return passThrough(exchange, backend, backend.passthrough, access, undefined);
  }
}

async function servePost(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Promise<void> {
  const bytes = await readWhole(exchange, backend.limits.body);
  if (bytes === undefined) return;
  const message = readMessageBytes(bytes);
  if (message.kind === "problem") return respondRpcError(exchange, 400, "MCP", message);
  record(exchange, message);
  if (exchange.gateway.isDraining && message.method === "initialize") {
    refuse(exchange, 503, "Draining", "The gateway is shutting down");
    return;
  }
  if (!isPermitted(exchange, backend, access, message)) return;
  const post: PassthroughMessage = { message, bytes };
  if (backend.passthrough !== undefined)
    passThrough(exchange, backend, backend.passthrough, access, post);
  else serveSessionPost(exchange, backend, access, message);
}

/** Checks what the message asks for against the rules; responds when it is hidden or can't be known. */
function isPermitted(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  message: Message,
): boolean {
  if (message.kind === "response") return true;
  const method = isSpecified(message) ? message.method : "other";
  const metrics = exchange.gateway.metrics.part(McpMetrics);
  const ofMethod = isSpecified(message)
    ? allowed
    : verdictOnMethod(access, exchange, backend.ruledMethods, message.method);
  if (!ofMethod.isAllowed) {
    recordRule(exchange, ofMethod);
    metrics.message(exchange, { method }, "denied");
    respondRpcError(exchange, message.kind === "request" ? 200 : 400, "MCP", {
      id: idOf(message),
      code: rpcCode.methodNotFound,
      message: "Method not found",
    });
    return false;
  }
  const addressed = addressedPrimitive(message);
  if (addressed === undefined) {
    metrics.handedOn(exchange, { method });
    return true;
  }
  if (addressed.kind === "problem") {
    // Nothing is decided by the name: whether the request is well-formed is the target's business.
    if (isOpen(access) && !backend.prefix) return true;
    respondRpcError(exchange, 400, "MCP", invalid(message, addressed.message));
    return false;
  }
  if (message.kind === "notification") {
    // A server might do what it asks for all the same.
    respondRpcError(exchange, 400, "MCP", invalid(message, `${message.method} needs an id`));
    return false;
  }
  const { item } = addressed;
  const found = resolvePrimitive(backend, item);
  const subject = found && { method, target: found.target.name, item: found.name };
  recordPrimitive(exchange, item.kind, found?.name ?? item.name, found?.target.name);
  const verdict =
    found &&
    verdictOn(access, exchange, message.method, item.kind, {
      name: found.name,
      target: found.target.name,
    });
  if (verdict?.isAllowed === true) {
    metrics.handedOn(exchange, subject ?? { method });
    return true;
  }
  if (verdict !== undefined) recordRule(exchange, verdict);
  metrics.message(exchange, subject ?? { method }, subject === undefined ? "unknown" : "denied");
  // The client sees no difference, the operator does.
  const reason = found === undefined ? "MCP" : "Authorization";
  respondRpcError(exchange, 200, reason, invalid(message, unknownPrimitive(item.kind, item.name)));
  return false;
}

function invalid(message: Message, text: string) {
  return { id: idOf(message), code: rpcCode.invalidParams, message: text };
}

function idOf({ id }: Message): string {
  return id === "" ? "null" : id;
}

function record(exchange: Exchange, message: Message): void {
  if (message.method === "") return;
  exchange.record.fields ??= new Map();
  exchange.record.fields.set("mcp.method.name", message.method);
}

/** Which rule forbids what is asked for. */
function recordRule({ record }: Exchange, { rule }: RuleVerdict): void {
  record.fields ??= new Map();
  record.fields.set("rule", rule);
}

function recordPrimitive(
  exchange: Exchange,
  kind: "tool" | "prompt" | "resource",
  name: string,
  target: string | undefined,
): void {
  exchange.record.fields ??= new Map();
  const field = kind === "resource" ? "mcp.resource.uri" : `gen_ai.${kind}.name`;
  exchange.record.fields.set(field, name);
  if (target !== undefined) exchange.record.fields.set("mcp.target", target);
}
