import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { isListMethod } from "../protocol/primitives.ts";
import { hidesNothing, type McpAuthorization } from "../rules/authorization.ts";
import { isDoubtful } from "../stateless/response-status.ts";
import { sendPassed } from "../stateless/send-passed.ts";
import { statelessFilter, withShownSubscriptions } from "../stateless/shown-lists.ts";
import { callStateless } from "../stateless/stateless-call.ts";
import { refuseFilter } from "../stateless/subscription-filter.ts";
import type { McpBackend, PassthroughMessage } from "../transports/backend.ts";
import { beginMcpCall, textWithTrace } from "../transports/call-span.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { CallSink, StreamableHttpTarget } from "../transports/target.ts";
import { passedFilter } from "./passed-filter.ts";
import { PassthroughRelay } from "./passthrough-relay.ts";
import { sendIfLocked } from "./send-if-locked.ts";

/**
 * Forwards a request of revision 2026-07-28 to the only target of a route. Without `post` its body has not been read: if no
 * rule depends on names, the target checks the headers that describe it.
 */
export function passStateless(
  exchange: Exchange,
  backend: McpBackend,
  target: StreamableHttpTarget,
  access: McpAuthorization,
  post: PassthroughMessage | undefined,
): void {
  const method = post?.message.method ?? exchange.header("mcp-method");
  const sent = post && shownOf(exchange, access, target, post);
  if (post !== undefined && sent === undefined) {
    refuseFilter(exchange, post.message);
    return;
  }
  const isList = method !== undefined && isListMethod(method);
  const passed = { method, isList, listFilter: statelessFilter };
  const relay = new PassthroughRelay(exchange, target, {
    ...passedFilter(exchange, access, target.name, passed),
    requestId: sent?.message.kind === "request" ? sent.message.id : undefined,
    readsRefusals: true,
    limit: backend.limits.message,
    keepAlive: backend.timeouts.keepAlive,
    deadline: method === "subscriptions/listen" ? undefined : backend.timeouts.request,
    onSession: undefined,
    onStatus: (status) => {
      if (isDoubtful(status)) target.era.doubtStateless();
    },
  });
  noteTargetEra(exchange, "stateless");
  const send = () => {
    const span = beginMcpCall(exchange.trace, target, sent?.message, method ?? "POST");
    const text = span && sent && textWithTrace(sent.message, span, exchange.requestHeaders);
    const body = text === undefined ? (sent?.bytes ?? exchange.body) : Buffer.from(text);
    const request = { exchange, target, body, span, mayBeCoded: hidesNothing(access) };
    relay.start((handler) => sendPassed(request, handler));
  };
  const ask = (request: Message, sink: CallSink) =>
    callStateless(exchange, target, backend.limits.message, request, sink, []);
  sendIfLocked({ exchange, backend, access, target, request: post?.message }, ask, send);
}

/** Removes hidden resources from a subscription before it is forwarded. */
function shownOf(
  exchange: Exchange,
  access: McpAuthorization,
  target: StreamableHttpTarget,
  post: PassthroughMessage,
): PassthroughMessage | undefined {
  if (post.message.method !== "subscriptions/listen" || hidesNothing(access)) return post;
  const message = withShownSubscriptions(exchange, access, target.name, post.message);
  return message && { message, bytes: Buffer.from(message.text) };
}
