import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { respondRpc } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { respondFailure } from "../session/failure-response.ts";
import { checkLock, isLockedCall, type LockedCall } from "../session/locked-call.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";

/** A request for an item on its way to the only target of a route. */
export interface PassedCall {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly access: McpAuthorization;
  readonly target: StreamableHttpTarget;
  /** Undefined: it says nothing of an item. */
  readonly request: Message | undefined;
}

/**
 * Sends a request: one for an item that has to be held against a lock when that is as it was locked. Responds when it is not,
 * or nobody can say.
 */
export function sendIfLocked(call: PassedCall, ask: LockedCall["ask"], send: () => void): void {
  const { access, request } = call;
  if (request === undefined || !isLockedCall(access, request)) send();
  else void sendChecked(call, request, ask, send);
}

async function sendChecked(
  { exchange, backend, access, target }: PassedCall,
  request: Message,
  ask: LockedCall["ask"],
  send: () => void,
): Promise<void> {
  const refusal = await checkLock({
    exchange,
    access,
    target: target.name,
    request,
    nameAsSent: (_, name) => name,
    ask,
    // What comes with the response to a list is about the list.
    onMessage: () => {},
    deadline: backend.timeouts.fanOut,
  });
  if (exchange.isOver) return;
  if (refusal === undefined) send();
  else if (refusal.kind === "withheld") respondRpc(exchange, 200, refusal.text);
  else respondFailure(exchange, request.id, refusal.failure);
}
