import type { Connect } from "../../../net/connector.ts";
import { Deadlines } from "../../../net/deadlines.ts";
import { LONG_READ, ReadMemory } from "../../../net/socket-reads.ts";
import { WriteBatch } from "../../../net/write-batch.ts";
import { processMetrics } from "../../../process/metrics-source.ts";
import { Http1Connection, type Http1Owner } from "./http1-connection.ts";

/** Who waits for a connection. */
export interface Waiter {
  use(connection: Http1Connection): void;
  /** No connection could be opened. */
  onNoConnection(error: Error): void;
}

/** The connections of HTTP/1.1 to one destination: as many as there are requests, and those that wait for the next one. */
export class Http1Pool implements Http1Owner {
  readonly deadlines = new Deadlines(() => this.#closeIdle());
  /** All pools of a process have it, and its ports. */
  readonly writes: WriteBatch = processMetrics()?.part(WriteBatch) ?? new WriteBatch();
  readonly #connect: Connect;
  /** Without a request; the last one used is the first one used again, so that the others can end. */
  readonly #idle: Http1Connection[] = [];
  readonly #waiting: Waiter[] = [];
  #memory: ReadMemory | undefined;
  #opening = 0;
  #isClosed = false;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  get memory(): ReadMemory {
    this.#memory ??= new ReadMemory(LONG_READ);
    return this.#memory;
  }

  /** For the metrics. */
  get stats(): { readonly queued: number } {
    return { queued: this.#waiting.length };
  }

  /** Calls `use` with a connection, at once when there is one. */
  take(waiter: Waiter): void {
    // Servers may have closed what this process, which stood still, takes for open.
    if (this.#idle.length > 0 && this.deadlines.isBehind) this.#closeIdle();
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (!free.isOpen) continue;
      waiter.use(free);
      return;
    }
    if (this.#opening < this.#waiting.push(waiter)) this.#open();
  }

  /** Who waits does so no more. */
  leave(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  onIdle(connection: Http1Connection): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next.use(connection);
    else if (this.#isClosed) connection.abort();
    else this.#idle.push(connection);
  }

  onGone(connection: Http1Connection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Lets requests end, those that wait as well, and their connections with them. */
  close(): void {
    this.#isClosed = true;
    this.#closeIdle();
  }

  #closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.abort();
  }

  #open(): void {
    this.#opening += 1;
    this.#connect((error, socket) => {
      this.#opening -= 1;
      if (socket !== null) {
        this.onIdle(new Http1Connection(socket, this));
        return;
      }
      // One attempt was made for each that waits.
      this.#waiting.shift()?.onNoConnection(error ?? new Error("no connection"));
    });
  }
}
