import { stringAt } from "../../json/json-text.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import type { Message } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import type { SessionContext } from "../session/session-context.ts";
import { callerBinding } from "../session/sessions.ts";
import type { McpTarget } from "../transports/target.ts";

/**
 * The response of one of several targets whose state, if it wants to see one again (MCP 2026-07-28, multi round-trip
 * requests), is good for this caller and this target alone.
 */
export function withSealedState(
  context: SessionContext,
  target: McpTarget,
  response: Message,
): Message {
  const { text, result } = response;
  if (result === undefined || !text.includes('"requestState"')) return response;
  const at = fieldOf(text, result, "requestState");
  const state = stringAt(text, at);
  if (at === undefined || state === undefined) return response;
  const { sessionKey } = context.exchange.gateway;
  const sealed = sealSession(sessionKey, bindingOf(context, target), state);
  return edited(response, [replaced(at, JSON.stringify(sealed))]);
}

/** The request with the state as its target knows it; undefined: it brings one that is not for this caller and target. */
export function withOpenedState(
  context: SessionContext,
  target: McpTarget,
  request: Message,
): Message | undefined {
  const at = paramOf(request, "requestState");
  if (at === undefined) return request;
  const { sessionKey } = context.exchange.gateway;
  const sealed = stringAt(request.text, at) ?? "";
  const state = unsealSession(sessionKey, bindingOf(context, target), sealed);
  return state === undefined ? undefined : edited(request, [replaced(at, JSON.stringify(state))]);
}

function bindingOf({ exchange, backend, access }: SessionContext, { name }: McpTarget): string {
  return `state\n${callerBinding(exchange, backend, access)}\n${name}`;
}
