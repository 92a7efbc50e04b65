import type { Socket } from "node:net";
import type { Connect } from "../../../net/connector.ts";
import { oncePodIsGone } from "../../../net/service-endpoints.ts";
import {
  type Borrower,
  LONG_READ,
  pauseReads,
  ReadMemory,
  type ReadTaker,
  SocketReads,
} from "../../../net/socket-reads.ts";
import { type BatchedWriter, WriteBatch } from "../../../net/write-batch.ts";
import { processMetrics } from "../../../process/offered-values.ts";
import { SECOND } from "../../../process/units.ts";
import { Deadlines, type Timed } from "../../../time/deadlines.ts";
import { fieldLines, inOnePiece, isPlainText, ONE_PIECE, writeFramed } from "../../http1/fields.ts";
import type { ReadState } from "../../http1/message-reader.ts";
import { type Http1Reader, Http1Response, type WrittenCall } from "./http1-message.ts";

/** Idle time of a connection whose server announces none: most servers wait longer. */
const IDLE_TIME = 4 * SECOND;

/** Maximum idle time that a server can announce. */
const MAX_IDLE_TIME = 600 * SECOND;

/** The request that uses a connection. */
export interface Http1User extends Http1Reader {
  /** The response is complete; the connection is free again. */
  onComplete(trailers: readonly string[] | undefined): void;
  /** The connection has ended before that. */
  onClose(reason: CloseReason): void;
  /** Everything written has left, after a `write` that returned false. */
  onDrain(): void;
}

/** Why a connection ended during a request. */
export interface CloseReason {
  readonly kind: "closed" | "protocol";
  readonly detail: string;
  /** Whether a part of the response had arrived. */
  readonly hasBegun: boolean;
}

/** Interface of a pool for its connections. */
export interface Http1Owner {
  readonly deadlines: Deadlines;
  /** Memory that connections are read into. */
  readonly memory: ReadMemory;
  /** Batches short requests of one turn. */
  readonly writes: WriteBatch;
  /** The connection can carry the next request. */
  onIdle(connection: Http1Connection): void;
  onGone(connection: Http1Connection): void;
}

/** An HTTP/1.1 connection: one request at a time (RFC 9112 9.3). */
export class Http1Connection implements Timed, ReadTaker, BatchedWriter {
  /** Tick at which its idle time ends. */
  deadline: number;
  place = 0;
  readonly #socket: Socket;
  readonly #owner: Http1Owner;
  readonly #reads: SocketReads;
  #user: Http1User | undefined;
  #response: Http1Response | undefined;
  /** Whether the whole request was written. */
  #isSent = false;
  #isPaused = false;
  /** Whether the connection keeps the process alive. */
  #isHeld = false;
  /** Whether the connection closes after this request. */
  #isLast = false;
  #error: Error | undefined;

  constructor(socket: Socket, owner: Http1Owner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on("data", (bytes: Buffer) => this.#read(bytes, false));
    this.#reads = new SocketReads(socket, owner.memory, this);
    socket.on("drain", () => this.#user?.onDrain());
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error) => {
      this.#error = error;
    });
    socket.on("close", () => this.#onClose());
    socket.unref();
    this.deadline = owner.deadlines.after(IDLE_TIME);
    owner.deadlines.add(this);
    oncePodIsGone(socket, () => {
      this.#isLast = true;
      if (this.#user === undefined) socket.destroy();
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Assigns the connection to a request. `hasNoBody`: its response has none, whatever its head says. */
  begin(user: Http1User, hasNoBody: boolean): void {
    this.#user = user;
    this.#response = new Http1Response(user, hasNoBody);
    this.#isSent = false;
    this.#keepProcess();
  }

  /**
   * Closes the connection when its idle time is over. Checked tick by tick, because most connections get their next request
   * before.
   */
  expire(tick: number): void {
    if (this.#user !== undefined) return;
    if (tick >= this.deadline) this.#socket.destroy();
    else this.#letGo();
  }

  /** Writes the head of a request with its whole body, which sends it. `framing`: as announced in the head. */
  send(head: string, body: string | Uint8Array | null, framing?: WrittenCall["framing"]): void {
    this.#isSent = true;
    if (body === null) this.#sendText(head);
    else if (typeof body !== "string") this.#sendBytes(head, body);
    else if (isPlainText(body, framing)) this.#sendText(head + body);
    else this.#sendBytes(head, Buffer.from(body));
  }

  /** Writes the head of a request whose body follows. */
  writeHead(head: string): void {
    this.#socket.write(head, "latin1");
  }

  /** Writes a piece of a body. Returns false if the caller should wait for `onDrain`. */
  write(chunk: Buffer, isChunked: boolean): boolean {
    if (!isChunked) return writeFramed(this.#socket, "", chunk, "");
    return writeFramed(this.#socket, `${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
  }

  /** Ends the body. `trailers`: sent after a chunked one. */
  end(isChunked: boolean, trailers: readonly string[] = []): void {
    if (isChunked) this.#socket.write(`0\r\n${fieldLines(trailers) ?? ""}\r\n`, "latin1");
    this.#isSent = true;
  }

  release(request: string | Uint8Array): void {
    this.#socket.write(request, "latin1");
  }

  resume(): void {
    const response = this.#response;
    if (response === undefined) return;
    const state = response.readOn();
    this.#after(state);
    if (state === "open") this.#resumeSocket();
  }

  /** Whether all written bytes have left the process. */
  get holdsNothing(): boolean {
    return this.#socket.writableLength === 0;
  }

  take(bytes: Buffer): void {
    this.#read(bytes, true);
  }

  get borrower(): Borrower | undefined {
    return this.#user?.borrower;
  }

  lend(bytes: Buffer): boolean {
    const response = this.#response;
    this.#read(bytes, false);
    return response?.holdsNothing === true;
  }

  /** Closes the connection without notifying its request. */
  abort(): void {
    this.#user = undefined;
    this.#response = undefined;
    this.#socket.destroy();
  }

  #sendBytes(head: string, body: Uint8Array): void {
    if (body.length <= ONE_PIECE) this.#sendText(inOnePiece(head, body, ""));
    else writeFramed(this.#socket, head, body, "");
  }

  #sendText(request: string): void {
    if (!this.#owner.writes.holds(this, request)) this.release(request);
  }

  /** `isLent`: the bytes are only valid during the call. */
  #read(bytes: Buffer, isLent: boolean): void {
    const response = this.#response;
    // Unrequested bytes would be taken for the next response.
    if (response === undefined) this.#socket.destroy();
    else this.#after(response.push(bytes, isLent));
  }

  #after(state: ReadState): void {
    switch (state) {
      case "open":
        return;
      case "paused":
        this.#isPaused = true;
        pauseReads(this.#socket);
        return;
      case "broken":
        // The request is notified when the connection is closed, because the head may have been passed on just now.
        this.#socket.destroy();
        return;
      case "ended":
        this.#complete();
    }
  }

  #complete(): void {
    const user = this.#user;
    const response = this.#response;
    if (user === undefined || response === undefined) return;
    this.#user = undefined;
    this.#response = undefined;
    const { head, excess, trailers } = response;
    const isKept =
      head?.keepsAlive === true && excess === undefined && this.#isSent && !this.#isLast;
    if (isKept) this.#free(head.keepAliveTime);
    else this.#socket.destroy();
    user.onComplete(trailers);
  }

  #free(seconds?: number): void {
    const time = seconds === undefined ? IDLE_TIME : keptFor(seconds);
    if (time <= 0) {
      this.#socket.destroy();
      return;
    }
    this.deadline = this.#owner.deadlines.after(time);
    this.#resumeSocket();
    this.#owner.onIdle(this);
  }

  #keepProcess(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#socket.ref();
  }

  #letGo(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#socket.unref();
  }

  #resumeSocket(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** The server has ended its side. */
  #onEnd(): void {
    if (this.#response?.close() === true) this.#complete();
    this.#socket.destroy();
  }

  #onClose(): void {
    const user = this.#user;
    const response = this.#response;
    this.#user = undefined;
    this.#response = undefined;
    this.#reads.close();
    this.#owner.deadlines.delete(this);
    this.#owner.onGone(this);
    const { problem, hasBegun = false } = response ?? {};
    if (problem !== undefined) user?.onClose({ kind: "protocol", detail: problem, hasBegun });
    else {
      const detail = this.#error?.message ?? "other side closed";
      user?.onClose({ kind: "closed", detail, hasBegun });
    }
  }
}

/** Returns a second less than the server's idle time, because a request on its way would meet the end. */
function keptFor(seconds: number): number {
  return Math.min((seconds - 1) * SECOND, MAX_IDLE_TIME);
}

/** A request that waits for a connection. */
export interface Waiter {
  use(connection: Http1Connection): void;
  /** No connection could be opened. */
  onNoConnection(error: Error): void;
}

/** HTTP/1.1 connections to one destination: one per request in flight, and idle ones for the next requests. */
export class Http1Pool implements Http1Owner {
  readonly deadlines = new Deadlines(() => this.#closeIdle());
  /** Shared with all pools and ports of the process. */
  readonly writes: WriteBatch = processMetrics()?.part(WriteBatch) ?? new WriteBatch();
  readonly #connect: Connect;
  /** Idle connections. The last used one is reused first, so that the others can time out. */
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

  /** Number of waiting requests, for the metrics. */
  get stats(): { readonly queued: number } {
    return { queued: this.#waiting.length };
  }

  /** Calls `use` with a connection, synchronously if one is idle. */
  take(waiter: Waiter): void {
    // Servers may have closed connections while this process was blocked.
    if (this.#idle.length > 0 && this.deadlines.isBehind) this.#closeIdle();
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (!free.isOpen) continue;
      waiter.use(free);
      return;
    }
    if (this.#opening < this.#waiting.push(waiter)) this.#open();
  }

  /** Stops waiting. */
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

  /** Closes connections once their requests have ended, waiting ones included. */
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
      // One connection attempt was made per waiting request.
      this.#waiting.shift()?.onNoConnection(error ?? new Error("no connection"));
    });
  }
}
