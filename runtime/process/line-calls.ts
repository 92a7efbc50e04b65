import type { GatewayContext } from "./gateway-context.ts";
import type { LineListener, ThreadLine } from "./thread-links.ts";

/** An address, a request, and the listener for its result. */
export type LineCall = readonly [address: string, request: string, listener: CallListener];

/** Serves a call of another thread. Returns `undefined` if the address does not exist. */
export type ServeThreadCall = (
  gateway: GatewayContext,
  ...call: LineCall
) => CallHandle | undefined;

/** Serves a call of another thread or replica. Returns `undefined` if the address does not exist. */
export type ServeLineCall = (...call: LineCall) => CallHandle | undefined;

/** Receives the results of a call, as strings. */
export interface CallListener {
  /** Returns false if no more may be sent until `resume`. */
  onMessage(text: string): boolean;
  onResponse(text: string): void;
  /** `text`: the failure, as JSON. */
  onFailure(text: string): void;
  /** The address no longer exists, or its thread or replica has ended. */
  onGone(): void;
}

/** A call in flight. */
export interface CallHandle {
  cancel(): void;
  resume(): void;
}

/** A message about a call between two threads or replicas. */
export type CallMessage =
  | { readonly kind: "call"; readonly address: string; readonly request: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string }
  /** The address does not exist. */
  | { readonly kind: "gone" }
  /** Number of messages that the client has received. */
  | { readonly kind: "confirmed"; readonly count: number }
  | { readonly kind: "cancel" };

/** Maximum number of messages that the client has not confirmed. */
const MAX_UNCONFIRMED = 16;

/** Starts a call on a line. Returns `undefined` if the line cannot be opened. */
export function startCall(
  open: (listener: LineListener<CallMessage>) => ThreadLine<CallMessage> | undefined,
  ...[address, request, listener]: LineCall
): CallHandle | undefined {
  let isFull = false;
  let confirmed = 0;
  const confirm = () => {
    isFull = false;
    line?.send({ kind: "confirmed", count: confirmed });
    confirmed = 0;
  };
  const end = () => line?.hangUp();
  const line = open({
    onMessage: (message) => {
      switch (message.kind) {
        case "message":
          confirmed++;
          if (!listener.onMessage(message.text)) isFull = true;
          else if (!isFull) confirm();
          return;
        case "response":
          end();
          listener.onResponse(message.text);
          return;
        case "failure":
          end();
          listener.onFailure(message.text);
          return;
        case "gone":
          end();
          listener.onGone();
          return;
        default:
      }
    },
    onLost: () => listener.onGone(),
  });
  if (line === undefined) return undefined;
  line.send({ kind: "call", address, request });
  return {
    cancel: () => {
      end();
      line.send({ kind: "cancel" });
    },
    resume: () => isFull && confirm(),
  };
}

/** Serves the call that another end has started on a line. */
export function serveCall(
  serve: ServeLineCall | undefined,
  first: CallMessage,
  line: ThreadLine<CallMessage>,
): LineListener<CallMessage> {
  let unconfirmed = 0;
  const sendLast = (message: CallMessage) => {
    line.send(message);
    line.hangUp();
  };
  const call =
    first.kind === "call"
      ? serve?.(first.address, first.request, {
          onMessage: (text) => {
            line.send({ kind: "message", text });
            return ++unconfirmed < MAX_UNCONFIRMED;
          },
          onResponse: (text) => sendLast({ kind: "response", text }),
          onFailure: (text) => sendLast({ kind: "failure", text }),
          onGone: () => sendLast({ kind: "gone" }),
        })
      : undefined;
  if (call === undefined) sendLast({ kind: "gone" });
  return {
    onMessage: (message) => {
      if (message.kind === "cancel") {
        line.hangUp();
        call?.cancel();
      } else if (message.kind === "confirmed") {
        const wasFull = unconfirmed >= MAX_UNCONFIRMED;
        unconfirmed -= message.count;
        if (wasFull && unconfirmed < MAX_UNCONFIRMED) call?.resume();
      }
    },
    onLost: () => call?.cancel(),
  };
}
