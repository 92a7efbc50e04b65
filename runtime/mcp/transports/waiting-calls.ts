import { randomUUID } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { ReplicaCalls } from "../../process/replica-calls.ts";
import type { SessionKeys } from "../../process/session-seal.ts";
import type { Channels } from "../../store/channels.ts";
import { Instances } from "../../store/instances.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import type { Call, CallSink } from "./target.ts";
import { callByText, textSink } from "./text-call.ts";

/** Continues a call with a message of its client. Returns `undefined` if the call has ended. */
export type ContinueCall = (message: Message, sink: CallSink) => Call | undefined;

/** The calls and sessions of this replica whose clients may return to another replica of the same store. */
export class WaitingCalls {
  readonly #waiting = new Map<string, ContinueCall>();
  readonly #replicas: ReplicaCalls;

  /** `keys`: the keys that replicas share. */
  constructor(channels: Channels, keys: SessionKeys) {
    this.#replicas = new ReplicaCalls(channels, keys, (id, request, listener) =>
      this.#waiting.get(id)?.(ownMessage(request), textSink(listener)),
    );
  }

  /** Name of this replica, which a client's state contains. */
  get replica(): string {
    return this.#replicas.name;
  }

  /** Begins to wait under an unguessable id. */
  add(id: string, proceed: ContinueCall): void {
    this.#waiting.set(id, proceed);
  }

  delete(id: string): void {
    this.#waiting.delete(id);
  }

  /** Continues a call of another replica. `onGone`: called if it has ended, or its replica does not respond. */
  continueAt(
    replica: string,
    id: string,
    message: Message,
    sink: CallSink,
    onGone: () => void,
  ): Call {
    const start = (listener: Parameters<typeof textSink>[0]) =>
      this.#replicas.call(replica, id, message.text, listener);
    return callByText(start, sink, onGone);
  }
}

const instances = new Instances<Channels, WaitingCalls>();

/** Returns the waiting calls of a gateway; `undefined` if it shares no store. */
export function waitingCalls({
  store,
  sessionKeys,
}: Pick<GatewayContext, "store" | "sessionKeys">): WaitingCalls | undefined {
  const channels = store?.channels;
  return channels && instances.of(channels, () => new WaitingCalls(channels, sessionKeys));
}

/** Returns the id of a request to a client, which names the replica that waits for the response. */
export function newAskedId(waiting: WaitingCalls | undefined): string {
  return waiting === undefined ? randomUUID() : `${waiting.replica}.${randomUUID()}`;
}

/** Gives a client's response to the replica that waits for it. */
export function passOnResponse(gateway: GatewayContext, response: Message): void {
  const waiting = waitingCalls(gateway);
  const replica = /^"([\w-]+)\.[\w-]+"$/.exec(response.id)?.[1];
  if (waiting === undefined || replica === undefined || replica === waiting.replica) return;
  waiting.continueAt(replica, response.id, response, nobody, () => {});
}

const nobody: CallSink = { onMessage: () => true, onResponse: () => {}, onFailure: () => {} };
