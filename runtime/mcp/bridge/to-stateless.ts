import { thenMaybe } from "../../process/maybe-promise.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { paramOf, stringParamOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import {
  type BridgedContext,
  changeState,
  type SessionBridge,
  type StateChange,
} from "../transports/session-bridge.ts";
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
    const response = ownResponse(request);
    if (response !== undefined) return responded(sink, response);
    const change = changeBy(request);
    if (change !== undefined) return changeSession(context, request, change, sink);
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

/** Answers methods that the target does not have any more, and that change nothing. */
function ownResponse({ id, method }: Message): string | undefined {
  switch (method) {
    case "ping":
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

/** Returns what a request changes in its session; `undefined` if it changes nothing. */
function changeBy(request: Message): StateChange | undefined {
  const uri = stringParamOf(request, "uri");
  switch (request.method) {
    case "logging/setLevel": {
      const at = paramOf(request, "level");
      const level = at && textAt(request.text, at);
      return (state) => {
        state.logLevel = level;
      };
    }
    case "resources/subscribe":
      return ({ subscriptions }) => void (uri !== undefined && subscriptions.add(uri));
    case "resources/unsubscribe":
      return ({ subscriptions }) => void (uri !== undefined && subscriptions.delete(uri));
    default:
      return undefined;
  }
}

function changeSession(
  { session }: BridgedContext,
  request: Message,
  change: StateChange,
  sink: CallSink,
): Call {
  const before = session.subscriptions.size;
  const shared = changeState(session, change);
  // One request adds or removes at most one.
  if (session.subscriptions.size !== before) for (const listener of session.listeners) listener();
  void thenMaybe(shared, () => void responded(sink, rpcResult(request.id, "{}")));
  return endedCall;
}

function responded(sink: CallSink, text: string): Call {
  sink.onResponse(ownMessage(text));
  return endedCall;
}
