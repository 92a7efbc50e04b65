import { readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { logFields } from "../http/exchange.ts";
import { type CustomPolicy, countCall, failed } from "../policies/custom/custom-policy.ts";
import { type KnownIdentities, MadeRefusal, RequestView } from "../policies/custom/request-view.ts";
import { withinDeadline } from "../policies/custom.ts";
import type { PolicyToolCall } from "../policy/policy.ts";
import { meantCall } from "./protocol/called-tool.ts";
import { type Message, readMessageBytes, textAt } from "./protocol/message.ts";
import { paramOf, stringParamOf } from "./protocol/message-edit.ts";
import { respondRpcError, rpcCode } from "./protocol/rpc-response.ts";

/** How the calls of an endpoint are read. */
export interface ToolCallReading {
  /** Maximum size of a message in bytes. */
  readonly limit: number;
  /** Names of the gateway's tools whose calls are calls of the tools that their arguments name; absent if there are none. */
  readonly callers?: readonly string[];
}

/**
 * Runs the `toolCall` hook of a custom policy if a request calls a tool. Resolves with false if the request was refused.
 * Invalid messages continue, and the endpoint refuses them.
 */
export async function applyToToolCall(
  exchange: Exchange,
  policy: CustomPolicy,
  { limit, callers = [] }: ToolCallReading,
  identities?: KnownIdentities,
): Promise<boolean> {
  if (exchange.method !== "POST") return true;
  const bytes = await readWhole(exchange, limit);
  if (bytes === undefined) return false;
  const message = readMessageBytes(bytes);
  if (message.kind !== "request" || message.method !== "tools/call") return true;
  const call = toolCallOf(meantCall(message, callers));
  if (call === undefined) return true;
  const view = new RequestView(exchange, identities);
  try {
    const result = await withinDeadline(exchange, policy, view, "toolCall", () =>
      policy.definition.toolCall?.(call, policy.options, view),
    );
    if (exchange.isOver) return false;
    if (result instanceof MadeRefusal) return refuseCall(exchange, policy, message, result);
    if (result !== undefined)
      throw new TypeError("toolCall returned something other than a refusal");
    countCall(exchange, policy, "toolCall", "ok");
    return true;
  } catch (error) {
    return failed(exchange, policy, "toolCall", error);
  }
}

/** Returns the call of a message; `undefined` if it has no name, so that the endpoint refuses it. */
function toolCallOf(message: Message): PolicyToolCall | undefined {
  const tool = stringParamOf(message, "name");
  if (tool === undefined) return undefined;
  const at = paramOf(message, "arguments");
  const given: unknown = at === undefined ? {} : JSON.parse(textAt(message.text, at));
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  return { tool, arguments: isObject ? { ...given } : {} };
}

function refuseCall(
  exchange: Exchange,
  policy: CustomPolicy,
  { id }: Message,
  { message }: MadeRefusal,
): false {
  countCall(exchange, policy, "toolCall", "refused");
  logFields(exchange.record).set("custom.policy", policy.name);
  respondRpcError(exchange, 200, "Custom", { id, code: rpcCode.invalidParams, message });
  return false;
}
