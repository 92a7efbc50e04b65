import type { Exchange } from "../http/exchange.ts";
import {
  type CustomPolicy,
  countCall,
  noteHookFailure,
  noteHookRefusal,
} from "../policies/custom/custom-policy.ts";
import { MadeRefusal } from "../policies/custom/made-refusal.ts";
import { type KnownIdentities, RequestView } from "../policies/custom/request-view.ts";
import { withinDeadline } from "../policies/custom.ts";
import type { PolicyJson, PolicyTool } from "../policy/policy.ts";
import { interceptResults, refuseResumedResults } from "./guarded-responses.ts";
import { type Message, textAt } from "./protocol/message.ts";
import { stringParamOf } from "./protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "./protocol/rpc-response.ts";
import { type MessageReading, sentMessage } from "./sent-message.ts";

type ResultHook = "toolResult" | "toolList";

/**
 * Prepares the `toolResult` and `toolList` hooks of a custom policy for the response of a request. Resolves with false if the
 * request was refused.
 */
export async function applyToResults(
  exchange: Exchange,
  policy: CustomPolicy,
  reading: MessageReading,
  identities?: KnownIdentities,
): Promise<boolean> {
  const { limit } = reading;
  if (exchange.method === "GET") refuseResumedResults(exchange, limit);
  const sent = await sentMessage(exchange, reading);
  if (typeof sent === "boolean") return sent;
  const { meant } = sent;
  const hook = meant.kind === "request" ? hookOf(meant, policy) : undefined;
  if (hook === undefined) return true;
  const tool = stringParamOf(meant, "name") ?? "";
  const view = new RequestView(exchange, identities).close();
  interceptResults(exchange, limit, async ({ text, id, result }) => {
    const given: Record<string, unknown> =
      result === undefined ? {} : JSON.parse(textAt(text, result));
    try {
      const made = await withinDeadline(exchange, policy, view, hook, () =>
        hook === "toolResult"
          ? policy.definition.toolResult?.({ tool, result: given }, policy.options, view)
          : policy.definition.toolList?.(toolsOf(given), policy.options, view),
      );
      if (MadeRefusal.isMade(made)) {
        noteHookRefusal(exchange, policy, hook);
        return rpcError(id, rpcCode.invalidParams, made.message);
      }
      const changed = made === undefined ? undefined : changedResult(hook, given, made);
      countCall(exchange, policy, hook, "ok");
      return changed === undefined ? text : rpcResult(id, JSON.stringify(changed));
    } catch (error) {
      noteHookFailure(exchange, policy, hook, error);
      return policy.passesOnFailure ? text : rpcError(id, rpcCode.internal, "internal error");
    }
  });
  return true;
}

function hookOf({ method }: Message, { definition }: CustomPolicy): ResultHook | undefined {
  if (method === "tools/call" && definition.toolResult !== undefined) return "toolResult";
  return method === "tools/list" && definition.toolList !== undefined ? "toolList" : undefined;
}

/** Returns the tools of a list; a list of a server that has none is empty. */
function toolsOf({ tools }: Readonly<Record<string, unknown>>): readonly PolicyTool[] {
  return Array.isArray(tools) ? tools.filter(isTool) : [];
}

function isTool(value: unknown): value is PolicyTool {
  return (
    typeof value === "object" && value !== null && "name" in value && typeof value.name === "string"
  );
}

/** Returns the result with what a hook returned. Throws if that is not a result, or a list with other tools. */
function changedResult(hook: ResultHook, given: PolicyJson, made: unknown): PolicyJson {
  if (hook === "toolResult") {
    if (
      typeof made !== "object" ||
      made === null ||
      !("content" in made) ||
      !Array.isArray(made.content)
    )
      throw new TypeError("toolResult returned something other than a result or a refusal");
    return { ...made };
  }
  if (!Array.isArray(made) || !made.every(isTool))
    throw new TypeError("toolList returned something other than tools or a refusal");
  const names = new Set(toolsOf(given).map(({ name }) => name));
  const other = made.find(({ name }) => !names.has(name));
  if (other !== undefined)
    throw new TypeError(`toolList returned a tool that is not in the list: ${other.name}`);
  return { ...given, tools: made };
}
