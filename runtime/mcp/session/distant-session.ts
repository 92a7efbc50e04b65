import { type Message, ownMessage } from "../protocol/message.ts";
import { type Call, type CallSink, endedCall, type ListenSink } from "../transports/target.ts";
import type { SessionConnection } from "../transports/target-connection.ts";
import type { ContinueCall, WaitingCalls } from "../transports/waiting-calls.ts";

/** A use of a session's connection by another replica. */
type Use = "call" | "send" | "listen";

/** The connections of a session in this process. */
interface HeldConnections {
  readonly id: string;
  readonly connections: readonly SessionConnection[];
  usedAt: number;
  onClosed?: () => void;
}

/** Lets other replicas use the connections of a session until they are closed. `end`: ends the session. */
export function offerSession(waiting: WaitingCalls, live: HeldConnections, end: () => void): void {
  const offered = new Map<string, ContinueCall>();
  for (const [index, connection] of live.connections.entries()) {
    const at = (use: Use) => addressOf(live.id, index, use);
    offered.set(at("call"), (request, sink) => connection.call(request, sink));
    offered.set(at("listen"), (_, sink) => connection.listen(listenSink(sink)));
    offered.set(at("send"), (message, sink) => {
      connection.send(message);
      sink.onResponse(message);
      return endedCall;
    });
  }
  offered.set(live.id, () => {
    end();
    return undefined;
  });
  for (const [address, serve] of offered)
    waiting.add(address, (message, sink) => {
      live.usedAt = Date.now();
      return serve(message, sink);
    });
  const withdraw = () => {
    for (const address of offered.keys()) waiting.delete(address);
  };
  live.onClosed = withdraw;
}

/** A session whose connections another replica holds. */
export class DistantSession {
  readonly #waiting: WaitingCalls;
  readonly #replica: string;
  /** Id of its live parts. */
  readonly #id: string;
  #isOpen = true;

  constructor(waiting: WaitingCalls, replica: string, id: string) {
    this.#waiting = waiting;
    this.#replica = replica;
    this.#id = id;
  }

  /** False once its replica has ended it, or does not respond. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns the connection with this index. */
  connection(index: number): SessionConnection {
    const use = (kind: Use, message: Message, sink: CallSink, onGone: () => void) =>
      this.#use(addressOf(this.#id, index, kind), message, sink, onGone);
    const isOpen = () => this.#isOpen;
    return {
      get isOpen() {
        return isOpen();
      },
      call: (request, sink) =>
        use("call", request, sink, () =>
          sink.onFailure({ kind: "session", detail: "it has ended" }),
        ),
      send: (message) => void use("send", message, nobody, () => {}),
      listen: (sink) => {
        const end = () => sink.onEnd();
        const messages = { onMessage: sink.onMessage, onResponse: end, onFailure: end };
        return use("listen", nothing, messages, end);
      },
      close: () => this.end(),
    };
  }

  /** Ends the session. */
  end(): void {
    this.#use(this.#id, nothing, nobody, () => {});
  }

  #use(address: string, message: Message, sink: CallSink, onGone: () => void): Call {
    return this.#waiting.continueAt(this.#replica, address, message, sink, () => {
      this.#isOpen = false;
      onGone();
    });
  }
}

/** Connections are identified by their order in the session; the id of the live parts is unguessable. */
function addressOf(id: string, index: number, use: Use): string {
  return `${id} ${index} ${use}`;
}

function listenSink(sink: CallSink): ListenSink {
  return {
    onMessage: (message) => sink.onMessage(message),
    onEnd: () => sink.onFailure({ kind: "closed", detail: "the session has ended" }),
  };
}

/** Message of uses that have none. */
const nothing = ownMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}');

const nobody: CallSink = { onMessage: () => true, onResponse: () => {}, onFailure: () => {} };
