import type { Exchange } from "../http/exchange.ts";
import { foldCase } from "../json/fold-case.ts";
import { isJsonObject } from "../json/json-object.ts";
import { hasRepeatedKey } from "../json/json-text.ts";
import {
  type CustomPolicy,
  countCall,
  failed,
  noteHookRefusal,
} from "../policies/custom/custom-policy.ts";
import { MadeRefusal } from "../policies/custom/made-refusal.ts";
import { type KnownIdentities, RequestView } from "../policies/custom/request-view.ts";
import { withinDeadline } from "../policies/custom.ts";
import type { PolicyToolCall } from "../policy/policy.ts";
import { type Message, textAt } from "./protocol/message.ts";
import { paramOf, stringParamOf } from "./protocol/message-edit.ts";
import { respondRpcError, rpcCode } from "./protocol/rpc-response.ts";
import { type MessageReading, sentMessage } from "./sent-message.ts";

/** Runs the `toolCall` hook of a custom policy if a request calls a tool. Resolves with false if the request was refused. */
export async function applyToToolCall(
  exchange: Exchange,
  policy: CustomPolicy,
  reading: MessageReading,
  identities?: KnownIdentities,
): Promise<boolean> {
  const sent = await sentMessage(exchange, reading);
  if (typeof sent === "boolean") return sent;
  const { meant } = sent;
  if (meant.kind !== "request" || meant.method !== "tools/call") return true;
  const given = paramOf(meant, "arguments");
  if (given !== undefined && hasRepeatedKey(textAt(meant.text, given), foldCase)) {
    // The server could read another value than the policy.
    const message = "Invalid params: arguments have a duplicate key";
    respondRpcError(exchange, 200, "MCP", { id: meant.id, code: rpcCode.invalidParams, message });
    return false;
  }
  const call = toolCallOf(meant);
  if (call === undefined) return true;
  const view = new RequestView(exchange, identities);
  try {
    const result = await withinDeadline(exchange, policy, view, "toolCall", () =>
      policy.definition.toolCall?.(call, policy.options, view),
    );
    if (exchange.isOver) return false;
    if (MadeRefusal.isMade(result)) return refuseCall(exchange, policy, meant, result);
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
  return { tool, arguments: isJsonObject(given) ? { ...given } : {} };
}

function refuseCall(
  exchange: Exchange,
  policy: CustomPolicy,
  { id }: Message,
  { message }: MadeRefusal,
): false {
  noteHookRefusal(exchange, policy, "toolCall");
  respondRpcError(exchange, 200, "Custom", { id, code: rpcCode.invalidParams, message });
  return false;
}
