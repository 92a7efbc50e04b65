import type { JsonObject } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { allowed, type RuleVerdict } from "../../policies/rule-verdict.ts";
import type { Message } from "../protocol/message.ts";
import { type EraMethods, isSpecified } from "../protocol/methods.ts";
import { addressedPrimitive, shownName, unknownPrimitive } from "../protocol/primitives.ts";
import {
  respondRpc,
  respondRpcError,
  responseId,
  rpcCode,
  rpcError,
  unknownMethod,
} from "../protocol/rpc-response.ts";
import {
  hidesNothing,
  type McpAuthorization,
  verdictOn,
  verdictOnMethod,
} from "../rules/authorization.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import type { McpBackend } from "../transports/backend.ts";
import { resolvePrimitive } from "./names.ts";

/** Logs the method of a client's message; does nothing for a response. */
export function recordMethod({ record }: Exchange, method: string): void {
  if (method === "") return;
  logFields(record).set("mcp.method.name", method);
}

/**
 * Returns the message that a client's message stands for, if the rules permit it: calls may name a tool in another way than its
 * target. Responds and returns `undefined` otherwise. Rules are asked later if they read the target, which a name without prefix
 * does not tell, or the tools that a search has found.
 */
export function permittedMessage(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  methods: EraMethods,
  sent: Message,
): Message | undefined {
  const { owners, toolFront } = backend;
  const message = toolFront?.meant(sent) ?? sent;
  if (typeof message === "string") {
    respondRpcError(exchange, 200, "MCP", invalid(sent, message));
    return undefined;
  }
  const isDecidedLater = owners?.listFor(message) !== undefined || toolFront?.serves(message);
  return isDecidedLater || isPermitted(exchange, backend, access, methods, message)
    ? message
    : undefined;
}

/** Whether the rules permit a message. Responds if its item is hidden or cannot be determined. */
export function isPermitted(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  methods: EraMethods,
  message: Message,
): boolean {
  if (message.kind === "response") return true;
  const method = isSpecified(methods, message) ? message.method : "other";
  const metrics = mcpMetrics(exchange);
  const ofMethod = isSpecified(methods, message)
    ? allowed
    : verdictOnMethod(access, exchange, backend.ruledMethods, message.method);
  if (!ofMethod.isAllowed) {
    recordRule(exchange, ofMethod);
    metrics.message(exchange, { method }, "denied");
    const onMethod = (own: McpAuthorization) =>
      verdictOnMethod(own, exchange, backend.ruledMethods, message.method);
    if (asksForScopes(exchange, access, message, onMethod)) return false;
    respondRpcError(exchange, methods.unknownStatus[message.kind], "Authorization", {
      id: responseId(message),
      ...unknownMethod,
    });
    return false;
  }
  const addressed = addressedPrimitive(message);
  if (addressed === undefined) {
    const { targets } = backend;
    metrics.handedOn(exchange, { method, target: targets.length === 1 ? targets[0]?.name : "" });
    return true;
  }
  if (addressed.kind === "problem") {
    // No rule depends on the name; the target checks whether the request is well-formed.
    if (hidesNothing(access) && !backend.prefix) return true;
    respondRpcError(exchange, 400, "MCP", invalid(message, addressed.message));
    return false;
  }
  if (message.kind === "notification") {
    // A server might still execute it.
    respondRpcError(exchange, 400, "MCP", invalid(message, `${message.method} needs an id`));
    return false;
  }
  const { item } = addressed;
  const found = resolvePrimitive(backend, item, { exchange, jwt: access.jwt });
  const name = shownName({ kind: item.kind, name: found?.name ?? item.name });
  const subject = found && { method, target: found.target.name, item: name };
  recordPrimitive(exchange, item.kind, name, found?.target.name);
  const given = item.kind === "tool" ? access.readArguments?.(message) : undefined;
  if (typeof given === "string") {
    respondRpcError(exchange, 200, "MCP", invalid(message, `Invalid params: ${given}`));
    return false;
  }
  const onItem = (own: McpAuthorization) =>
    found &&
    verdictOn(own, exchange, message.method, item.kind, {
      name: found.name,
      target: found.target.name,
      ...(given && { arguments: given }),
    });
  const verdict = onItem(access);
  if (verdict?.isAllowed === true) {
    metrics.handedOn(exchange, subject ?? { method });
    return true;
  }
  if (verdict !== undefined) recordRule(exchange, verdict);
  metrics.message(exchange, subject ?? { method }, subject === undefined ? "unknown" : "denied");
  if (asksForScopes(exchange, access, message, onItem)) return false;
  // The client sees no difference; the log does.
  const reason = found === undefined ? "MCP" : "Authorization";
  const shown = backend.toolFront?.shownAs(item.kind, item.name) ?? item.name;
  respondRpcError(exchange, 200, reason, invalid(message, unknownPrimitive(item.kind, shown)));
  return false;
}

/**
 * Responds with the missing scopes if nothing else is missing. Returns false if that is not the case or step-up is not
 * configured.
 */
function asksForScopes(
  exchange: Exchange,
  access: McpAuthorization,
  message: Message,
  ask: (access: McpAuthorization) => RuleVerdict | undefined,
): boolean {
  const rules = (jwt: JsonObject) => ask({ ...access, jwt }) ?? { isAllowed: false };
  const challenge = access.stepUp?.(exchange, access.jwt, rules);
  if (challenge === undefined) return false;
  exchange.record.reason = "Authorization";
  const text = rpcError(responseId(message), rpcCode.insufficientScope, "The token lacks a scope");
  respondRpc(exchange, 403, text, ["www-authenticate", challenge]);
  return true;
}

function invalid(message: Message, text: string) {
  return { id: responseId(message), code: rpcCode.invalidParams, message: text };
}

/** Logs the rule that denies a message. */
function recordRule({ record }: Exchange, { rule }: RuleVerdict): void {
  logFields(record).set("rule", rule);
}

/** Logs the item that a message names, with its target if that is known. */
export function recordPrimitive(
  exchange: Exchange,
  kind: "tool" | "prompt" | "resource",
  name: string,
  target: string | undefined,
): void {
  const fields = logFields(exchange.record);
  const field = kind === "resource" ? "mcp.resource.uri" : `gen_ai.${kind}.name`;
  fields.set(field, name);
  if (target !== undefined) fields.set("mcp.target", target);
}
