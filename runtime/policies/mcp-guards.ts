import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { noteRefusal } from "../http/refuse.ts";
import { isJsonObject } from "../json/json-object.ts";
import { hasRepeatedKey, type TextRange } from "../json/json-text.ts";
import { GuardRun } from "../llm/guards/guard-run.ts";
import { guardedObject } from "../llm/guards/guarded-object.ts";
import type { GuardStep, PromptGuard, TextMap } from "../llm/guards/prompt-guard.ts";
import { recordGuards } from "../llm/guards/record-guards.ts";
import { interceptMessages } from "../mcp/guarded-responses.ts";
import { mapOwnResult, mapParams, mapResult } from "../mcp/guards/message-texts.ts";
import { repeatArguments } from "../mcp/guards/repeated-arguments.ts";
import { type Message, textAt } from "../mcp/protocol/message.ts";
import { edited, paramOf, replaced } from "../mcp/protocol/message-edit.ts";
import { fieldOf } from "../mcp/protocol/message-fields.ts";
import {
  type RpcError,
  respondRpcError,
  responseId,
  rpcCode,
  rpcError,
} from "../mcp/protocol/rpc-response.ts";
import { type MessageReading, replaceMessage, sentMessage } from "../mcp/sent-message.ts";

/**
 * Guards what a client sends to tools, prompts and resources, and prepares the guard of what servers send. Resolves with
 * false if the request was answered.
 */
export async function guardCalls(
  exchange: Exchange,
  guard: PromptGuard,
  reading: MessageReading,
): Promise<boolean> {
  if (exchange.method === "GET") guardServerMessages(exchange, guard, reading, undefined);
  const sent = await sentMessage(exchange, reading);
  if (typeof sent === "boolean") return sent;
  const { meant } = sent;
  const given = await guardedRequest(exchange, guard, meant);
  if (exchange.isOver || given === undefined) return false;
  if (given !== meant) replaceMessage(exchange, given);
  if (!UNGUARDED.has(meant.method)) guardServerMessages(exchange, guard, reading, meant);
  return true;
}

/** Requests whose results describe a server: they contain no results of calls. */
const UNGUARDED: ReadonlySet<string> = new Set([
  ...["initialize", "server/discover", "ping", "tools/list", "prompts/list", "resources/list"],
  ...["resources/templates/list"],
]);

/** Returns the message as servers may see it; `undefined` if it was answered. */
async function guardedRequest(
  exchange: Exchange,
  { request: steps }: PromptGuard,
  message: Message,
): Promise<Message | undefined> {
  const isResponse = message.kind === "response";
  const at = isResponse ? contentOf(message) : message.params;
  if (steps.length === 0 || at === undefined || message.method === "initialize") return message;
  const text = textAt(message.text, at);
  // Guards would read the last of both values, but a server may read the first.
  if (hasRepeatedKey(text)) {
    const error = { code: rpcCode.invalidParams, message: "params have a duplicate key" };
    return refused(exchange, message, error);
  }
  const run = new GuardRun("request", exchange);
  const checked = await guardedText(text, steps, isResponse ? mapOwnResult : mapParams, run);
  recordGuards(exchange, steps, run);
  if (checked === undefined || run.error !== undefined) {
    const isFinding = run.error?.kind === "filtered";
    const code = isFinding ? rpcCode.invalidParams : rpcCode.internal;
    return refused(exchange, message, { code, message: run.error?.message ?? UNREADABLE });
  }
  if (checked.text === text) return message;
  const changed = edited(message, [replaced(at, checked.text)]);
  const { before, after } = checked;
  if (paramOf(changed, "arguments") !== undefined)
    repeatArguments(exchange, before.arguments, after.arguments);
  return changed;
}

const UNREADABLE = "The message cannot be checked";

/** Refuses a request. The server gets an error instead of a client's response; notifications are dropped. */
function refused(exchange: Exchange, message: Message, error: RpcError): Message | undefined {
  noteRefusal(exchange, "PromptGuard", error.message);
  if (message.kind === "response") {
    const text = rpcError(message.id, error.code, error.message);
    return { ...message, text, result: undefined };
  }
  if (message.kind === "notification") exchange.respond(202, [], "");
  else respondRpcError(exchange, 200, "PromptGuard", { id: responseId(message), ...error });
  return undefined;
}

/** Guards the messages of a response. `request`: the request that it belongs to; `undefined` for a stream of a session. */
function guardServerMessages(
  exchange: Exchange,
  { response: steps }: PromptGuard,
  { limit }: MessageReading,
  request: Message | undefined,
): void {
  if (steps.length === 0) return;
  const ofRequest = new GuardRun("response", exchange);
  let isOver = false;
  interceptMessages(exchange, limit, async (message) => {
    if (isOver) return undefined;
    const run = request === undefined ? new GuardRun("response", exchange) : ofRequest;
    const at = message.kind === "response" ? contentOf(message) : message.params;
    if (at === undefined && message.kind !== "response") return message.text;
    const text = at === undefined ? "" : textAt(message.text, at);
    const checked = await guardedText(text, steps, mapResult, run);
    const isLast = message.kind === "response" || request === undefined;
    const problem = run.error?.message ?? (checked === undefined ? UNREADABLE : undefined);
    // The server waits for the response to a question that is not shown, so the call ends.
    isOver = problem !== undefined && message.kind === "request" && request !== undefined;
    if (isLast || isOver) recordGuards(exchange, steps, run);
    run.error = undefined;
    if (problem === undefined && checked !== undefined && at !== undefined)
      return checked.text === text
        ? message.text
        : edited(message, [replaced(at, checked.text)]).text;
    noteRefusal(exchange, "PromptGuard", problem ?? UNREADABLE);
    if (message.kind === "response") return refusal(message.id, problem);
    return isOver && request !== undefined ? refusal(responseId(request), problem) : undefined;
  });
}

function refusal(id: string, problem = UNREADABLE): string {
  return rpcError(id, rpcCode.internal, problem);
}

/** Returns the result or the error of a response. */
function contentOf({ text, result }: Message): TextRange | undefined {
  return result ?? fieldOf(text, { start: 0, end: text.length }, "error");
}

/** An object before and after guards, and its text for the receiver. */
interface GuardedText {
  readonly text: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Guards the texts of an object; `undefined` if it is not an object, before or after its guards. */
async function guardedText(
  text: string,
  steps: readonly GuardStep[],
  map: TextMap,
  run: GuardRun,
): Promise<GuardedText | undefined> {
  const before: unknown = text === "" ? undefined : JSON.parse(text);
  if (!isJsonObject(before)) return undefined;
  const after = await guardedObject(steps, before, map, run);
  const hasArguments = isJsonObject(before.arguments) && after.arguments !== undefined;
  if (hasArguments && !isJsonObject(after.arguments)) return undefined;
  // Of a repeated key, the receiver gets the value that was checked.
  const isSame = after === before && !hasRepeatedKey(text);
  return { text: isSame ? text : JSON.stringify(after), before, after };
}
