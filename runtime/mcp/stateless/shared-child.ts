import { randomUUID } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { withParams } from "../protocol/envelope.ts";
import { type Message, withId } from "../protocol/message.ts";
import { progressTokenOf, withProgressToken } from "../protocol/progress-token.ts";
import { openConnection } from "../session/open-connection.ts";
import { sessionTable } from "../session/session-table.ts";
import type { McpBackend, RequestOwner } from "../transports/backend.ts";
import { beginMcpCall, tracedSink, withTrace } from "../transports/call-span.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { Call, CallSink, StdioTarget, TargetFailure } from "../transports/target.ts";
import type { TargetConnection } from "../transports/target-connection.ts";
import { discoverRequest, verdictSink } from "./discovery.ts";

/** A child that is there, or why there is none. */
export type SharedChild =
  | { readonly connection: TargetConnection }
  | { readonly failure: TargetFailure };

/**
 * The child of a target without sessions for all requests of one owner: what it keeps in its process is not for others. It
 * is started, and found again while it runs.
 */
export function sharedChild(
  exchange: Exchange,
  backend: McpBackend,
  target: StdioTarget,
  { binding, caller }: RequestOwner,
): SharedChild {
  const table = sessionTable(exchange.gateway);
  // Who is not known is known by an address.
  const key = `${binding}\n${caller}\n${target.name}`;
  const live = table.openLive(backend.sessionLimits, caller, key);
  if (live === undefined) return { failure: { kind: "connect", detail: "too many children" } };
  const [running] = live.connections;
  if (running?.isOpen === true) return { connection: running };
  live.connections.length = 0;
  live.isEstablished = true;
  return openConnection(exchange, backend, target, live);
}

/** Asks a child whether it speaks the stateless revision. Undefined: it is gone. */
export function discoverChild(
  connection: TargetConnection,
  deadline: number,
): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const request = discoverRequest(JSON.stringify(randomUUID()));
    const call = connection.call(request, verdictSink(resolve));
    // A server that does not know the method may say nothing at all.
    const timer = setTimeout(() => {
      call.cancel();
      resolve(false);
    }, deadline);
    timer.unref();
  });
}

/** Sends a request to a child that many share: its id there is the gateway's own, and so is its progress token. */
export function callChild(
  exchange: Exchange,
  target: StdioTarget,
  connection: TargetConnection,
  request: Message,
  sink: CallSink,
): Call {
  noteTargetEra(exchange, "stateless");
  const id = JSON.stringify(randomUUID());
  const token = progressTokenOf(request);
  const named = withId(request, id);
  const own = token === undefined ? named : withParams(named, { progressToken: id });
  const span = beginMcpCall(exchange.trace, target, own, "");
  const back: CallSink = {
    onFailure: (failure) => sink.onFailure(failure),
    onMessage: (message) => sink.onMessage(withProgressToken(message, token)),
    onResponse: (response) => sink.onResponse(withId(response, request.id)),
  };
  if (span === undefined) return connection.call(own, back);
  return connection.call(withTrace(own, span, exchange.requestHeaders), tracedSink(span, back));
}
