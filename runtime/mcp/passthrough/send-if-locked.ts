import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { respondRpc } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { ToolLock } from "../rules/tool-lock.ts";
import { respondFailure } from "../session/failure-response.ts";
import type { McpBackend } from "../transports/backend.ts";
import { type FanOutCall, outcomeOf } from "../transports/fan-out.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";

/** Sends a request to the target as the client that asks. */
type SendOwn = (request: Message, sink: Parameters<FanOutCall>[0]) => ReturnType<FanOutCall>;

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
export function sendIfLocked(call: PassedCall, sendOwn: SendOwn, send: () => void): void {
  const { request } = call;
  const { toolLock } = call.access;
  if (request === undefined || toolLock?.isAbout(request) !== true) send();
  else void sendChecked(toolLock, call, request, sendOwn, send);
}

async function sendChecked(
  lock: ToolLock,
  { exchange, backend, access, target }: PassedCall,
  request: Message,
  sendOwn: SendOwn,
  send: () => void,
): Promise<void> {
  const refusal = await lock.check({
    exchange,
    jwt: access.jwt,
    target: target.name,
    request,
    nameAsSent: (_, name) => name,
    // What comes with the response to a list is about the list.
    ask: (own) => outcomeOf((sink) => sendOwn(own, sink), backend.timeouts.fanOut),
  });
  if (exchange.isOver) return;
  if (refusal === undefined) send();
  else if (refusal.kind === "withheld") respondRpc(exchange, 200, refusal.text);
  else respondFailure(exchange, request.id, refusal.failure);
}
