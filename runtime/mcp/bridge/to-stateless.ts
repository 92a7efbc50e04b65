import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { paramOf, stringParamOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { BridgedContext, SessionBridge } from "../transports/session-bridge.ts";
import { type Call, type CallSink, endedCall } from "../transports/target.ts";
import { passOnResponse } from "../transports/waiting-calls.ts";
import { BridgedCall } from "./bridged-call.ts";
import { BridgedListener } from "./bridged-listener.ts";
import { sendLeg } from "./send-leg.ts";
import { initializeResponse } from "./session-results.ts";

/** Serves clients with sessions from targets of revision 2026-07-28, which have none. */
export const toStateless: SessionBridge = {
  open(context, initialize, sink) {
    return sendLeg(context, discover, {
      onMessage: () => true,
      onResponse: (response) => {
        const opened = initializeResponse(context.target.name, initialize, response);
        if (opened === undefined)
          sink.onFailure({ kind: "protocol", detail: "refused server/discover" });
        else sink.onResponse(opened);
      },
      onFailure: (failure) => sink.onFailure(failure),
    });
  },
  call(context, request, sink) {
    const response = ownResponse(context, request);
    if (response !== undefined) return responded(sink, response);
    const call = new BridgedCall(context, request, sink);
    call.start();
    return call;
  },
  notify({ session, exchange }, message) {
    if (message.kind === "response") {
      for (const call of session.calls.values()) if (call.takeResponse(message.id, message)) return;
      passOnResponse(exchange.gateway, message);
    } else if (message.method === "notifications/cancelled") {
      const id = paramOf(message, "requestId");
      if (id !== undefined) session.calls.get(textAt(message.text, id))?.takeBack();
    }
  },
  listen(context, sink) {
    const listener = new BridgedListener(context, sink);
    listener.start();
    return listener;
  },
};

const discover = ownMessage('{"jsonrpc":"2.0","id":"gwc-discover","method":"server/discover"}');

/** Answers methods that the target does not have any more. */
function ownResponse({ session }: BridgedContext, request: Message): string | undefined {
  const { id, method } = request;
  switch (method) {
    case "ping":
      return rpcResult(id, "{}");
    case "logging/setLevel": {
      const level = paramOf(request, "level");
      session.logLevel = level && textAt(request.text, level);
      return rpcResult(id, "{}");
    }
    case "resources/subscribe":
    case "resources/unsubscribe":
      changeSubscriptions(request, session);
      return rpcResult(id, "{}");
    case "tasks/get":
    case "tasks/list":
    case "tasks/result":
    case "tasks/cancel":
      return rpcError(
        id,
        rpcCode.methodNotFound,
        "Method not found: the server does not support tasks in sessions",
      );
    default:
      return undefined;
  }
}

function changeSubscriptions(
  request: Message,
  { subscriptions, listeners }: BridgedContext["session"],
): void {
  const uri = stringParamOf(request, "uri");
  if (uri === undefined) return;
  const isNew = request.method === "resources/subscribe" && !subscriptions.has(uri);
  if (isNew) subscriptions.add(uri);
  else if (request.method !== "resources/unsubscribe" || !subscriptions.delete(uri)) return;
  for (const listener of listeners) listener();
}

function responded(sink: CallSink, text: string): Call {
  sink.onResponse(ownMessage(text));
  return endedCall;
}
