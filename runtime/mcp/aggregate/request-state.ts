import { stringAt } from "../../json/json-text.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import { requestDigest } from "../bridge/stateless-request.ts";
import type { Message } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { type ActiveTarget, isStateless, type SessionContext } from "../session/session-context.ts";
import { callerBinding } from "../session/sessions.ts";

/** A target's state as it is sealed for a client. */
interface SealedState {
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Returns the target's response with its request state sealed, if it has one (MCP 2026-07-28, multi round-trip requests).
 * The sealed state is valid only for this caller, target and request, and expires with the input timeout.
 */
export function withSealedState(
  context: SessionContext,
  active: ActiveTarget,
  request: Message,
  response: Message,
): Message {
  const { text, result } = response;
  if (!sealsState(context, active)) return response;
  if (result === undefined || !text.includes('"requestState"')) return response;
  const at = fieldOf(text, result, "requestState");
  const state = stringAt(text, at);
  if (at === undefined || state === undefined) return response;
  const { exchange, backend } = context;
  const { tag = "" } = backend;
  const own: SealedState = { state, expiresAt: Date.now() + backend.timeouts.input };
  const binding = bindingOf(context, active, request);
  const sealed = sealSession(exchange.gateway.sessionKeys, binding, JSON.stringify(own));
  return edited(response, [replaced(at, JSON.stringify(`${tag}${sealed}`))]);
}

/**
 * Returns the request with the target's own state; `undefined` if its state is invalid, expired, or sealed for another
 * request.
 */
export function withOpenedState(
  context: SessionContext,
  active: ActiveTarget,
  request: Message,
): Message | undefined {
  const at = sealsState(context, active) ? paramOf(request, "requestState") : undefined;
  if (at === undefined) return request;
  const { sessionKeys } = context.exchange.gateway;
  const binding = bindingOf(context, active, request);
  const { tag = "" } = context.backend;
  const shown = stringAt(request.text, at) ?? "";
  const sealed = shown.startsWith(tag) ? shown.slice(tag.length) : "";
  const opened = unsealSession(sessionKeys, binding, sealed);
  if (opened === undefined) return undefined;
  // Authenticated JSON that this gateway wrote itself.
  const { state, expiresAt }: SealedState = JSON.parse(opened);
  if (expiresAt <= Date.now()) return undefined;
  return edited(request, [replaced(at, JSON.stringify(state))]);
}

/**
 * Whether states are sealed: a child does not know its callers, and with several targets or backends one must not see the
 * state of another.
 */
function sealsState(context: SessionContext, { target }: ActiveTarget): boolean {
  const { prefix, tag } = context.backend;
  return isStateless(context) && (prefix || tag !== undefined || target.kind === "stdio");
}

function bindingOf(
  { exchange, backend, access }: SessionContext,
  { target }: ActiveTarget,
  request: Message,
): string {
  const caller = callerBinding(exchange, backend, access);
  return `state\n${caller}\n${target.name}\n${requestDigest(request)}`;
}
