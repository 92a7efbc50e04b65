import type { Socket } from "node:net";
import type { ConnectionSettings } from "../../../net/connection-settings.ts";
import { FIRST_REQUEST_TIME } from "../../../net/listen-on.ts";
import {
  type Borrower,
  pauseReads,
  type ReadMemory,
  type ReadTaker,
  SocketReads,
} from "../../../net/socket-reads.ts";
import type { WriteBatch } from "../../../net/write-batch.ts";
import { copyOf } from "../../../process/bytes.ts";
import { SECOND } from "../../../process/units.ts";
import type { Deadlines, Timed } from "../../../time/deadlines.ts";
import {
  ENDLESS_CHUNK_LINE,
  ENDLESS_HEAD,
  ENDLESS_TRAILERS,
  type ReadState,
} from "../../http1/message-reader.ts";
import {
  type Http1RequestHead,
  Http1ServerRequest,
  type RequestConnection,
} from "./http1-server-request.ts";
import {
  Http1ServerResponse,
  type ResponseConnection,
  statusLine,
} from "./http1-server-response.ts";

/** Maximum milliseconds for a head. */
export const HEAD_TIME = 30 * SECOND;
/** Maximum milliseconds for a body. */
export const BODY_TIME = 300 * SECOND;

/** Milliseconds that a client may continue to send, unread, after its last response: a reset would discard that response. */
const LINGER_TIME = 0.5 * SECOND;

/** Maximum bytes after a request that wait for its response before reading pauses. */
const MAX_WAITING = 65_536;

/** A connection that may speak HTTP/1.1. */
export interface PlainConnection extends Timed {
  readonly socket: Socket;
  /** Closes it if it is idle. A new connection has `FIRST_REQUEST_TIME` for its first request. */
  closeIdle(): void;
}

/** Interface of a port for its connections. */
export interface Http1Port {
  readonly deadlines: Deadlines<PlainConnection>;
  /** Milliseconds that a connection waits for a request, and for a client that reads nothing of its response. */
  readonly idleTimeout: number;
  /** Header lines about that for a response's head. */
  readonly keptLines: string;
  /** Memory that connections are read into. */
  readonly memory: ReadMemory;
  /** Batches short responses of one turn. */
  readonly writes: WriteBatch;
  /** Whether the port accepts no further requests. */
  readonly isClosing: boolean;
  /** Status that refuses tunnels; `undefined` if clients may request one. */
  readonly tunnelRefusal: 400 | 501 | undefined;
  serve(request: Http1ServerRequest, response: Http1ServerResponse, expectsContinue: boolean): void;
  /** Counts a malformed request. */
  malformed(): void;
  /** Reports why a connection was aborted; never with what was sent. */
  broken(reason: string, socket: Socket): void;
  gone(connection: Http1ServerConnection): void;
}

/** Phase of a connection, which determines its timeout. */
type Phase = "head" | "body" | "response" | "idle" | "end" | "other protocol";

/** An HTTP/1.1 connection of a client: one request after the other (RFC 9112 9.3). */
export class Http1ServerConnection
  implements RequestConnection, ResponseConnection, ReadTaker, PlainConnection
{
  readonly socket: Socket;
  readonly lowercasesNames: boolean;
  deadline: number;
  place = 0;
  readonly #port: Http1Port;
  readonly #reads: SocketReads;
  /** Tick at which it reaches its maximum age. */
  readonly #oldAt: number;
  #phase: Phase = "head";
  #request: Http1ServerRequest | undefined;
  #response: Http1ServerResponse | undefined;
  /** Bytes after the current request. */
  #waiting: Buffer | undefined;
  /** Whether the request arrived before the response to the previous one. */
  #isBehind = false;
  #isPaused = false;
  /** Whether the client has not read all of the response: the socket measures the time since it last read some. */
  #isTimed = false;
  /** Whether the current request is the last one. */
  #isEnding = false;

  /** `maxDuration`: maximum age in milliseconds. */
  constructor(socket: Socket, port: Http1Port, { maxDuration, ...form }: ConnectionSettings) {
    this.lowercasesNames = form.lowercasesNames === true;
    this.socket = socket;
    this.#port = port;
    this.deadline = port.deadlines.after(port.isClosing ? FIRST_REQUEST_TIME : HEAD_TIME);
    this.#oldAt =
      maxDuration === undefined ? Number.POSITIVE_INFINITY : port.deadlines.after(maxDuration);
    socket.on("data", this.#onData);
    this.#reads = new SocketReads(socket, port.memory, this);
    socket.on("drain", () => this.#response?.drained());
    socket.on("timeout", () => this.#onTimeout());
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error: NodeJS.ErrnoException) =>
      port.broken(error.code ?? error.name, socket),
    );
    socket.on("close", () => this.#onClose());
  }

  get isLast(): boolean {
    return this.#isEnding || this.#port.isClosing;
  }

  get keptLines(): string {
    return this.#port.keptLines;
  }

  get writes(): WriteBatch {
    return this.#port.writes;
  }

  get date(): string {
    return this.#port.deadlines.date;
  }

  closeIdle(): void {
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head" && !this.#hasBegun())
      this.deadline = Math.min(this.deadline, this.#port.deadlines.after(FIRST_REQUEST_TIME));
  }

  expire(tick: number): void {
    if (tick >= this.#oldAt && !this.#isEnding) {
      this.#isEnding = true;
      if (this.#phase === "idle" || this.#phase === "head") this.#end();
    }
    this.#timeWrites();
    if (tick < this.deadline) return;
    if (this.#isInside()) this.#refuse(408, "request incomplete after the time limit");
    else this.socket.destroy();
  }

  readOn(request: Http1ServerRequest): void {
    // After its end, the connection belongs to the next request or another protocol.
    if (request !== this.#request || request.isComplete || this.#phase === "end") return;
    this.#after(request, request.readOn());
  }

  responded(): void {
    const request = this.#request;
    if (this.#phase === "end" || request === undefined) return;
    if (this.#isEnding || this.#response?.keepsAlive !== true) this.#end();
    else if (request.isComplete) this.#next(request);
    else request.discard();
  }

  leaveHttp(): Buffer | undefined {
    const rest = joined(this.#request?.excess, this.#waiting);
    this.#waiting = undefined;
    this.#begin("other protocol");
    // The new reader starts the flow.
    this.#reads.end();
    this.socket.off("data", this.#onData);
    this.socket.setTimeout(0);
    this.socket.pause();
    return rest;
  }

  take(bytes: Buffer): void {
    this.#take(bytes, true);
  }

  get borrower(): Borrower | undefined {
    return this.#request?.borrower;
  }

  lend(bytes: Buffer): boolean {
    const request = this.#request;
    this.#take(bytes, false);
    // Bytes after the request belong to another one, or wait.
    const isAlone = this.#request === undefined || this.#request === request;
    return isAlone && this.#waiting === undefined && request?.holdsNothing === true;
  }

  readonly #onData = (bytes: Buffer): void => {
    // The stream would do the same in a tick of its own, which costs more than the read.
    this.socket.read(0);
    this.#take(bytes, false);
  };

  /** `isLent`: the bytes are only valid during the call. */
  #take(bytes: Buffer, isLent: boolean): void {
    const request = this.#request;
    if (this.#phase === "end") return;
    if (request?.isComplete !== true) {
      this.#read(bytes, isLent);
      return;
    }
    this.#waiting = joined(this.#waiting, isLent ? copyOf(bytes) : bytes);
    this.#boundWaiting(request);
  }

  #read(bytes: Buffer, isLent: boolean): void {
    this.#request ??= new Http1ServerRequest(this);
    this.#after(this.#request, this.#request.push(bytes, isLent));
  }

  #after(request: Http1ServerRequest, state: ReadState): void {
    if (state === "broken") {
      const problem = request.problem ?? "";
      this.#refuse(STATUSES[problem] ?? 400, problem);
      return;
    }
    const { head } = request;
    if (head === undefined) {
      this.#begin("head");
      this.#resumeSocket();
      return;
    }
    this.#begin(request.isComplete ? "response" : "body");
    if (request.isComplete) this.#boundWaiting(request);
    else if (state === "paused") this.#pauseSocket();
    else this.#resumeSocket();
    // Errors in the part of a body that arrived with its head are found before the request is served.
    if (this.#response === undefined) this.#serve(request, head);
    if (state !== "ended") return;
    request.ended();
    // The response was sent before the request ended.
    if (this.#response?.writableFinished === true) this.#next(request);
  }

  #serve(request: Http1ServerRequest, head: Http1RequestHead): void {
    const isConnect = head.method === "CONNECT";
    if (isConnect) {
      const refusal = this.#isBehind ? 400 : this.#port.tunnelRefusal;
      if (refusal !== undefined) {
        this.#respond(refusal);
        return;
      }
    }
    const response = new Http1ServerResponse(this, head, !this.#isBehind);
    this.#response = response;
    this.#port.serve(request, response, head.expectsContinue);
  }

  /** Reads the next request, which may have arrived already. */
  #next(request: Http1ServerRequest): void {
    const rest = joined(request.excess, this.#waiting);
    this.#request = undefined;
    this.#response = undefined;
    this.#waiting = undefined;
    this.#isBehind = rest !== undefined;
    if (rest === undefined && this.#port.isClosing) {
      this.#end();
      return;
    }
    this.#begin("idle");
    if (rest === undefined) this.#resumeSocket();
    else this.#read(rest, false);
  }

  /** Refuses malformed or late bytes. */
  #refuse(status: number, reason: string): void {
    if (this.#phase === "end") return;
    const response = this.#response;
    this.#port.broken(reason, this.socket);
    // A response has started, and the refusal must not be taken for its rest.
    if (response?.headersSent === true) {
      this.socket.destroy();
      return;
    }
    this.#port.malformed();
    this.#respond(status);
    response?.closed();
    this.#request?.abort();
  }

  /** Responds without an exchange. */
  #respond(status: number): void {
    this.socket.write(
      `${statusLine(status)}connection: close\r\ncontent-length: 0\r\n\r\n`,
      "latin1",
    );
    this.#end();
  }

  /** Sends nothing more; for a while, received bytes are discarded. */
  #end(): void {
    this.#begin("end");
    this.socket.end();
    this.#resumeSocket();
  }

  /** The client ended its side: it counts as gone. */
  #onEnd(): void {
    const { socket } = this;
    if (this.#phase === "other protocol" || this.#phase === "end") return;
    if (this.#isInside()) {
      this.#refuse(400, "connection closed within a request");
      return;
    }
    const response = this.#response;
    // The rest of the response is still being sent.
    this.#isEnding = true;
    if (response?.isEnded === true) return;
    response?.closed();
    this.#begin("end");
    socket.end();
  }

  /** Checked tick by tick, so a client that reads promptly needs no timer. */
  #timeWrites(): void {
    const isResponding = this.#phase === "response" || this.#phase === "body";
    const isTimed = isResponding && this.socket.writableLength > 0;
    if (isTimed === this.#isTimed) return;
    this.#isTimed = isTimed;
    this.socket.setTimeout(isTimed ? this.#port.idleTimeout : 0);
  }

  #onTimeout(): void {
    if (this.socket.writableLength === 0) return;
    this.#port.broken("client does not read its response", this.socket);
    this.socket.destroy();
  }

  #onClose(): void {
    this.#port.gone(this);
    if (this.#phase !== "other protocol") {
      this.#phase = "end";
      this.#reads.close();
    }
    this.#response?.closed();
    this.#request?.abort();
  }

  #begin(phase: Phase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    const time = phase === "idle" ? this.#port.idleTimeout : PHASE_TIMES[phase];
    this.deadline =
      time === undefined ? Number.POSITIVE_INFINITY : this.#port.deadlines.after(time);
  }

  /** Whether a request has started and is not fully read. */
  #isInside(): boolean {
    return this.#phase === "body" || (this.#phase === "head" && this.#hasBegun());
  }

  /** Whether bytes of a request were read. */
  #hasBegun(): boolean {
    return this.#request?.hasBegun === true;
  }

  /** Pauses a client that does not wait for responses once too many bytes are waiting. */
  #boundWaiting({ excess }: Http1ServerRequest): void {
    const bytes = (excess?.length ?? 0) + (this.#waiting?.length ?? 0);
    if (bytes >= MAX_WAITING) this.#pauseSocket();
    else this.#resumeSocket();
  }

  #pauseSocket(): void {
    this.#isPaused = true;
    pauseReads(this.socket);
  }

  #resumeSocket(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.socket.resume();
  }
}

function joined(first: Buffer | undefined, second: Buffer | undefined): Buffer | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Buffer.concat([first, second]);
}

/** Maximum milliseconds per phase; other phases have no limit. */
const PHASE_TIMES: Readonly<Partial<Record<Phase, number>>> = {
  head: HEAD_TIME,
  body: BODY_TIME,
  end: LINGER_TIME,
};

/** Statuses of errors other than 400. */
const STATUSES: Readonly<Record<string, number>> = {
  [ENDLESS_HEAD]: 431,
  [ENDLESS_TRAILERS]: 431,
  [ENDLESS_CHUNK_LINE]: 413,
};
