import { randomBytes } from "node:crypto";
import type { Channels } from "../store/channels.ts";
import { Deadlines, type Timed } from "../time/deadlines.ts";
import {
  type CallHandle,
  type CallMessage,
  type LineCall,
  type ServeLineCall,
  serveCall,
  startCall,
} from "./line-calls.ts";
import { type SessionKeys, sealSession, unsealSession } from "./session-seal.ts";
import type { LineListener, ThreadLine } from "./thread-links.ts";

/** Milliseconds until the other replica has to confirm a new line. */
const ANSWER_WITHIN = 3000;
/** Milliseconds between signs of life on an open line, and without one until it is lost. */
const ALIVE_INTERVAL = 5000;
const LOST_AFTER = 15_000;

/** A message on the channel of a replica; a sign of life if it has none. */
interface Envelope {
  readonly from: string;
  /** Random name given by the replica that opened the line. */
  readonly line: string;
  readonly isFirst: boolean;
  readonly message?: CallMessage;
}

/**
 * Calls between this replica and the others that share a store. Messages are sealed, so that the store can neither read nor change
 * them.
 */
export class ReplicaCalls {
  /** Name of this replica; each thread of a process and each start have one of their own. */
  readonly name = randomBytes(9).toString("base64url");
  readonly #channels: Channels;
  readonly #keys: SessionKeys;
  readonly #serve: ServeLineCall;
  readonly #lines = new Map<string, ReplicaLine>();
  /** A pause of this process is no silence of the other replica: what arrived meanwhile is read first. */
  readonly #deadlines = new Deadlines<ReplicaLine>();
  /** Resolves when responses can be received. */
  readonly #isReady: Promise<void>;

  /** `keys`: keys of AES-256-GCM that the replicas share. */
  constructor(channels: Channels, keys: SessionKeys, serve: ServeLineCall) {
    this.#channels = channels;
    this.#keys = keys;
    this.#serve = serve;
    this.#isReady = channels.receive(this.name, (text) => this.#receive(text));
    // Lines are lost then, because nothing is received.
    this.#isReady.catch(() => {});
  }

  /** Starts a call. Its listener learns that it is gone if the replica does not respond. */
  call(replica: string, ...call: LineCall): CallHandle | undefined {
    const open = (listener: LineListener<CallMessage>) => {
      const line = this.#line(randomBytes(12).toString("base64url"), replica, true);
      line.listener = listener;
      line.expect(ANSWER_WITHIN);
      return line;
    };
    return startCall(open, ...call);
  }

  #line(id: string, replica: string, isOpener: boolean): ReplicaLine {
    let isFirst = isOpener;
    const line: ReplicaLine = new ReplicaLine(this.#deadlines, {
      send: async (message) => {
        const envelope: Envelope = {
          from: this.name,
          line: id,
          isFirst,
          ...(message && { message }),
        };
        isFirst = false;
        try {
          await this.#isReady;
          const sealed = sealSession(this.#keys, bindingOf(replica), JSON.stringify(envelope));
          await this.#channels.send(replica, sealed);
        } catch {
          line.lose();
        }
      },
      onEnd: () => this.#lines.delete(id),
    });
    this.#lines.set(id, line);
    return line;
  }

  #receive(text: string): void {
    // Messages with another key are those of a replica that has another SESSION_KEY.
    const opened = unsealSession(this.#keys, bindingOf(this.name), text);
    if (opened === undefined) return;
    // Authenticated JSON that a replica wrote itself.
    const { from, line: id, isFirst, message }: Envelope = JSON.parse(opened);
    const known = this.#lines.get(id);
    if (known !== undefined) known.receive(message);
    else if (isFirst && message !== undefined) {
      const line = this.#line(id, from, false);
      line.listener = serveCall(this.#serve, message, line);
      line.confirm();
    }
  }
}

function bindingOf(replica: string): string {
  return `replica\n${replica}`;
}

/** The replica's side of a line. */
interface LineEnd {
  readonly send: (message: CallMessage | undefined) => Promise<void>;
  readonly onEnd: () => void;
}

/** One end of a conversation between two replicas, which is lost if the other end is silent. */
class ReplicaLine implements ThreadLine<CallMessage>, Timed {
  listener: LineListener<CallMessage> | undefined;
  place = 0;
  deadline = Number.POSITIVE_INFINITY;
  readonly #deadlines: Deadlines<ReplicaLine>;
  readonly #end: LineEnd;
  #isOver = false;
  readonly #aliveTimer: NodeJS.Timeout;

  constructor(deadlines: Deadlines<ReplicaLine>, end: LineEnd) {
    this.#deadlines = deadlines;
    this.#end = end;
    deadlines.add(this);
    this.#aliveTimer = setInterval(() => void end.send(undefined), ALIVE_INTERVAL).unref();
    this.expect(LOST_AFTER);
  }

  send(message: CallMessage): void {
    void this.#end.send(message);
  }

  /** Tells the other end that the line is served. */
  confirm(): void {
    if (!this.#isOver) void this.#end.send(undefined);
  }

  hangUp(): void {
    this.#isOver = true;
    clearInterval(this.#aliveTimer);
    this.#deadlines.delete(this);
    this.#end.onEnd();
  }

  receive(message: CallMessage | undefined): void {
    this.expect(LOST_AFTER);
    if (message !== undefined) this.listener?.onMessage(message);
  }

  /** Waits so many milliseconds for a message or a sign of life. */
  expect(patience: number): void {
    this.deadline = this.#deadlines.after(patience);
  }

  expire(tick: number): void {
    if (tick >= this.deadline) this.lose();
  }

  lose(): void {
    if (this.#isOver) return;
    this.hangUp();
    this.listener?.onLost();
  }
}
