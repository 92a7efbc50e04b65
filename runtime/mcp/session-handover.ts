import { createHash } from "node:crypto";
import { Handover } from "../http/engine/handover/handover.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { ServeThreadCall } from "../process/line-calls.ts";
import type { ThreadCalls } from "../process/thread-calls.ts";
import { continueParkedCall } from "./bridge/to-sessions.ts";
import { jsonRpcRefusal } from "./protocol/json-rpc-refusal.ts";
import { type Message, ownMessage } from "./protocol/message.ts";
import { sessionOwner } from "./session/session-owner.ts";
import {
  type ChildAddress,
  type OtherThreads,
  useOtherThreads,
} from "./stateless/cross-thread-sessions.ts";
import { discoverRequest } from "./stateless/discovery.ts";
import { childHere } from "./stateless/shared-child.ts";
import { type Call, type CallSink, endedCall } from "./transports/target.ts";
import { callByText, textSink } from "./transports/text-call.ts";

/**
 * Returns the handover with which any thread of a process serves the sessions of all and calls what they hold. `thread`:
 * the index of this thread.
 */
export function sessionHandover(thread: number): Handover {
  return new Handover(thread, {
    ownerOf: sessionOwner,
    refusalFormat: jsonRpcRefusal,
    serveCall,
    open: (gateway, calls) => useOtherThreads(gateway, otherThreads(gateway, calls)),
  });
}

/** Identifies a call that waits for its client. */
interface WaitingAddress {
  readonly kind: "waiting";
  readonly id: string;
}

/** The destination of a call to another thread. */
interface Destination {
  readonly thread: number;
  readonly address: WaitingAddress | ChildAddress;
  /** Called if the waiting call or child no longer exists. */
  readonly onGone: () => void;
}

function otherThreads({ threads }: GatewayContext, calls: ThreadCalls): OtherThreads {
  return {
    continueCall: ({ thread, id, onGone }, request, sink) =>
      callThread(calls, { thread, address: { kind: "waiting", id }, onGone }, request, sink),
    child: (address) => {
      const count = threads?.count ?? 1;
      const thread = createHash("sha256").update(address.key).digest().readUInt32BE() % count;
      // A thread that no longer serves has no child either.
      if (thread === threads?.index || !calls.reaches(thread)) return undefined;
      const gone = { kind: "closed", detail: "its thread has ended" } as const;
      return {
        isOpen: true,
        call: (request, sink) => {
          const onGone = () => sink.onFailure(gone);
          return callThread(calls, { thread, address, onGone }, request, sink);
        },
        close: () => {
          const end = { thread, address: { ...address, ends: true }, onGone: () => {} } as const;
          callThread(calls, end, discoverRequest('"end"'), nobody);
        },
      };
    },
    close: () => {},
  };
}

const nobody: CallSink = { onMessage: () => true, onResponse: () => {}, onFailure: () => {} };

function callThread(
  calls: ThreadCalls,
  { thread, address, onGone }: Destination,
  request: Message,
  sink: CallSink,
): Call {
  const text = JSON.stringify(address);
  return callByText((listener) => calls.call(thread, text, request.text, listener), sink, onGone);
}

const serveCall: ServeThreadCall = (gateway, text, request, listener) => {
  // Written by another thread of this process, which has also parsed the request.
  const address: WaitingAddress | ChildAddress = JSON.parse(text);
  const sink = textSink(listener);
  return address.kind === "waiting"
    ? continueParkedCall(gateway, address.id, { request: ownMessage(request), sink })
    : callChild(gateway, address, ownMessage(request), sink);
};

/** Returns `undefined` if the child was ended. */
function callChild(
  gateway: GatewayContext,
  address: ChildAddress,
  request: Message,
  sink: CallSink,
): Call | undefined {
  const child = childHere(gateway, address);
  if ("failure" in child) {
    sink.onFailure(child.failure);
    return endedCall;
  }
  if (address.ends !== true) return child.connection.call(request, sink);
  child.connection.close();
  return undefined;
}
