import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { respondRpc } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { ToolLock } from "../rules/tool-lock.ts";
import { respondFailure } from "../session/failure-response.ts";
import type { McpBackend } from "../transports/backend.ts";
import { type FanOutCall, outcomeOf } from "../transports/fan-out.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";

/** Sends a request to the target on behalf of the client. */
type SendOwn = (request: Message, sink: Parameters<FanOutCall>[0]) => ReturnType<FanOutCall>;

/** A request to the only target of a route. */
export interface PassedCall {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly access: McpAuthorization;
  readonly target: StreamableHttpTarget;
  /** `undefined` if the request has no message. */
  readonly request: Message | undefined;
}

/** Sends a request. If the tool lock must check its item first, sends it only if the item is unchanged; responds otherwise. */
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
    // Messages before the response to a list request concern only the list.
    ask: (own) => outcomeOf((sink) => sendOwn(own, sink), backend.timeouts.fanOut),
  });
  if (exchange.isOver) return;
  if (refusal === undefined) send();
  else if (refusal.kind === "withheld") respondRpc(exchange, 200, refusal.text);
  else respondFailure(exchange, request.id, refusal.failure);
}
