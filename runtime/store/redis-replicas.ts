import { randomBytes } from "node:crypto";
import {
  type CallMessage,
  type ServeLineCall,
  serveCall,
  startCall,
} from "../process/line-calls.ts";
import { sealSession, unsealSession } from "../process/session-seal.ts";
import type { LineListener, ThreadLine } from "../process/thread-links.ts";
import type { ReplicaCalls, Replicas } from "./replicas.ts";

/** Channels of a store, which deliver at most once and in order. */
export interface Channels {
  /** Resolves when texts for this name are received. */
  receive(name: string, listener: (text: string) => void): Promise<void>;
  send(name: string, text: string): Promise<void>;
}

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

/** Calls between replicas through channels of Redis. */
export class RedisReplicas implements Replicas {
  readonly #channels: Channels;
  #calls: ReplicaLinks | undefined;

  constructor(channels: Channels) {
    this.#channels = channels;
  }

  open(key: Buffer, serve: ServeLineCall): ReplicaCalls {
    this.#calls ??= new ReplicaLinks(this.#channels, key, serve);
    return this.#calls;
  }

  /** Ends all calls. */
  close(): void {
    this.#calls?.close();
  }
}

/** The lines between this replica and the others. */
class ReplicaLinks implements ReplicaCalls {
  readonly name = randomBytes(9).toString("base64url");
  readonly #channels: Channels;
  readonly #key: Buffer;
  readonly #serve: ServeLineCall;
  readonly #lines = new Map<string, ReplicaLine>();
  /** Resolves when responses can be received. */
  readonly #isReady: Promise<void>;

  constructor(channels: Channels, key: Buffer, serve: ServeLineCall) {
    this.#channels = channels;
    this.#key = key;
    this.#serve = serve;
    this.#isReady = channels.receive(this.name, (text) => this.#receive(text));
    // Lines are lost then, because nothing is received.
    this.#isReady.catch(() => {});
  }

  call(replica: string, ...call: Parameters<ServeLineCall>) {
    const open = (listener: LineListener<CallMessage>) => {
      const line = this.#line(randomBytes(12).toString("base64url"), replica, true);
      line.listener = listener;
      line.expect(ANSWER_WITHIN);
      return line;
    };
    return startCall(open, ...call);
  }

  close(): void {
    for (const line of Array.from(this.#lines.values())) line.lose();
  }

  #line(id: string, replica: string, isOpener: boolean): ReplicaLine {
    let isFirst = isOpener;
    const line: ReplicaLine = new ReplicaLine({
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
          const sealed = sealSession(this.#key, bindingOf(replica), JSON.stringify(envelope));
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
    const opened = unsealSession(this.#key, bindingOf(this.name), text);
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
class ReplicaLine implements ThreadLine<CallMessage> {
  listener: LineListener<CallMessage> | undefined;
  readonly #end: LineEnd;
  #isOver = false;
  #lossTimer: NodeJS.Timeout | undefined;
  readonly #aliveTimer: NodeJS.Timeout;

  constructor(end: LineEnd) {
    this.#end = end;
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
    clearTimeout(this.#lossTimer);
    this.#end.onEnd();
  }

  receive(message: CallMessage | undefined): void {
    this.expect(LOST_AFTER);
    if (message !== undefined) this.listener?.onMessage(message);
  }

  /** Waits so many milliseconds for a message or a sign of life. */
  expect(patience: number): void {
    clearTimeout(this.#lossTimer);
    if (!this.#isOver) this.#lossTimer = setTimeout(() => this.lose(), patience).unref();
  }

  lose(): void {
    if (this.#isOver) return;
    this.hangUp();
    this.listener?.onLost();
  }
}
