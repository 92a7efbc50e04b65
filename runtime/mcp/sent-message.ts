import { readWhole, replaceWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { editRequest } from "../policies/envoy/header-edits.ts";
import { meantCall } from "./protocol/called-tool.ts";
import { encodeHeader } from "./protocol/header-names.ts";
import { type Message, readMessageBytes } from "./protocol/message.ts";
import { stringParamOf } from "./protocol/message-edit.ts";
import { NAMED_PARAMS } from "./protocol/methods.ts";

/** How policies read the messages that clients send. */
export interface MessageReading {
  /** Maximum size of a message in bytes. */
  readonly limit: number;
  /** Names of the gateway's tools whose calls are calls of the tools that their arguments name; absent if there are none. */
  readonly callers?: readonly string[];
}

/** A message that a client sent. */
export interface SentMessage {
  /** As it was sent. */
  readonly given: Message;
  /** The call of the named tool if it calls a tool of the gateway; otherwise the same. */
  readonly meant: Message;
}

/**
 * Reads the message of a POST. Resolves with false if the request was refused, because it is too large. Resolves with true if
 * there is no valid message: the endpoint serves or refuses the request.
 */
export async function sentMessage(
  exchange: Exchange,
  { limit, callers }: MessageReading,
): Promise<SentMessage | boolean> {
  if (exchange.method !== "POST") return true;
  const bytes = await readWhole(exchange, limit);
  if (bytes === undefined) return false;
  const given = readMessageBytes(bytes);
  return given.kind === "problem" || { given, meant: meantCall(given, callers) };
}

/** Replaces the message of a request, and the header that repeats the name in it (MCP 2026-07-28). */
export function replaceMessage(exchange: Exchange, message: Message): void {
  const bytes = Buffer.from(message.text);
  replaceWhole(exchange, bytes);
  if (exchange.bufferedBody !== undefined) exchange.bufferedBody = bytes;
  const value = stringParamOf(message, NAMED_PARAMS.get(message.method) ?? "");
  if (value === undefined || headerValue(exchange.requestHeaders, "mcp-name") === undefined) return;
  const action = "overwrite";
  editRequest(exchange, [{ name: "mcp-name", value: encodeHeader(value), action }]);
}
