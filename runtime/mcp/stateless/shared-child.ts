import { randomUUID } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { withParams } from "../protocol/envelope.ts";
import { type Message, withId } from "../protocol/message.ts";
import { progressTokenOf, withProgressToken } from "../protocol/progress-token.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { openChild } from "../session/open-connection.ts";
import { sessionTable } from "../session/session-table.ts";
import type { McpBackend, RequestOwner } from "../transports/backend.ts";
import { callByMessage } from "../transports/call-span.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { Call, CallSink, StdioTarget } from "../transports/target.ts";
import type { EraVerdict } from "../transports/target-era.ts";
import {
  type ChildAddress,
  type ChildConnection,
  otherThreadsOf,
} from "./cross-thread-sessions.ts";
import { discoverRequest, verdictSink } from "./discovery.ts";

/** A running child, or why it could not be started. */
export type SharedChild =
  | { readonly connection: ChildConnection }
  | { readonly failure: TargetFailure };

/**
 * Returns the child of a target without sessions for all requests of one owner; the state in its process must not be
 * visible to others. Of several threads, the owner's key decides on the one that runs it.
 */
export function sharedChild(
  { gateway }: Exchange,
  backend: McpBackend,
  target: StdioTarget,
  { binding, caller }: RequestOwner,
): SharedChild {
  const { name, command, args, env } = target;
  const { limits, timeouts, failureMode, sessionLimits } = backend;
  const address: ChildAddress = {
    kind: "child",
    // An unknown caller is identified by its address.
    key: `${binding}\n${caller}\n${name}`,
    caller,
    target: { name, command, args, env },
    use: { limits, timeouts, failureMode, sessionLimits },
  };
  const connection = otherThreadsOf(gateway)?.child(address);
  return connection === undefined ? childHere(gateway, address) : { connection };
}

/** Returns the child on this thread, whatever its key is. */
export function childHere(
  gateway: GatewayContext,
  { key, caller, target, use }: ChildAddress,
): SharedChild {
  const table = sessionTable(gateway);
  const live = table.openLive(use.sessionLimits, caller, key);
  if (live === undefined) return { failure: { kind: "connect", detail: "too many children" } };
  const [running] = live.connections;
  if (running?.isOpen === true) return { connection: running };
  live.connections.length = 0;
  live.isEstablished = true;
  return openChild(gateway, use, target, live);
}

/** Probes whether a child speaks the stateless revision. */
export function discoverChild(connection: ChildConnection, deadline: number): Promise<EraVerdict> {
  return new Promise((resolve) => {
    const request = discoverRequest(JSON.stringify(randomUUID()));
    const call = connection.call(request, verdictSink(resolve));
    // A server that does not know the method may not respond.
    const timer = setTimeout(() => {
      call.cancel();
      resolve(false);
    }, deadline);
    timer.unref();
  });
}

/** Sends a request to a child that several requests share, with an id and a progress token of the gateway. */
export function callChild(
  exchange: Exchange,
  target: StdioTarget,
  connection: ChildConnection,
  request: Message,
  sink: CallSink,
): Call {
  noteTargetEra(exchange, "stateless");
  const id = JSON.stringify(randomUUID());
  const token = progressTokenOf(request);
  const named = withId(request, id);
  const own = token === undefined ? named : withParams(named, { progressToken: id });
  const back: CallSink = {
    onFailure: (failure) => sink.onFailure(failure),
    onMessage: (message) => sink.onMessage(withProgressToken(message, token)),
    onResponse: (response) => sink.onResponse(withId(response, request.id)),
  };
  return callByMessage(exchange, target, connection, own, back);
}
