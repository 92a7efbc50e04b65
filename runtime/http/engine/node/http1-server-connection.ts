import type { Socket } from "node:net";
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
import type { Deadlines, Timed } from "../../../process/deadlines.ts";
import { SECOND } from "../../../process/units.ts";
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

/** Milliseconds that a client may take for a head. */
export const HEAD_TIME = 30 * SECOND;
/** Milliseconds that it may take for a body. */
export const BODY_TIME = 300 * SECOND;

/** How long a client that gets its last response may go on sending what nobody reads: a reset would take it the response. */
const LINGER_TIME = 0.5 * SECOND;

/** The most bytes behind a request that wait for its response; then nothing more is read. */
const MAX_WAITING = 65_536;

/** A connection that may be one of HTTP/1.1. */
export interface PlainConnection extends Timed {
  readonly socket: Socket;
  /** Ends it if it is idle. A connection that has sent no request yet has `FIRST_REQUEST_TIME` for the first one. */
  closeIdle(): void;
}

/** What a connection needs of its port. */
export interface Http1Port {
  readonly deadlines: Deadlines<PlainConnection>;
  /** Milliseconds that a connection waits for a request, and for a client that takes nothing of its response. */
  readonly idleTimeout: number;
  /** What the head of a response says of that. */
  readonly keptLines: string;
  /** What connections are read into. */
  readonly memory: ReadMemory;
  /** Holds short responses back that are written in one turn. */
  readonly writes: WriteBatch;
  /** No more requests are wanted. */
  readonly isClosing: boolean;
  /** Why a tunnel is refused; undefined: clients may ask for one. */
  readonly tunnelRefusal: 400 | 501 | undefined;
  serve(request: Http1ServerRequest, response: Http1ServerResponse, expectsContinue: boolean): void;
  /** A client sent what is no request. */
  malformed(): void;
  /** Why the connection is broken off; never what was sent. */
  broken(reason: string, socket: Socket): void;
  gone(connection: Http1ServerConnection): void;
}

/** What a connection does, which decides how long it may take. */
type Phase = "head" | "body" | "response" | "idle" | "end" | "other protocol";

/** A client's connection of HTTP/1.1: one request after the other (RFC 9112 9.3). */
export class Http1ServerConnection
  implements RequestConnection, ResponseConnection, ReadTaker, PlainConnection
{
  readonly socket: Socket;
  deadline: number;
  place = 0;
  readonly #port: Http1Port;
  readonly #reads: SocketReads;
  /** The tick at which it has lasted as long as it may. */
  readonly #oldAt: number;
  #phase: Phase = "head";
  #request: Http1ServerRequest | undefined;
  #response: Http1ServerResponse | undefined;
  /** What came behind the request. */
  #waiting: Buffer | undefined;
  /** The request came before the response to the one ahead of it. */
  #isBehind = false;
  #isPaused = false;
  /** Its client has not taken all of the response yet: the socket counts the time since it last took some. */
  #isTimed = false;
  /** No request is taken behind the one under way. */
  #isEnding = false;

  /** `maxDuration`: milliseconds that it may last. */
  constructor(socket: Socket, port: Http1Port, maxDuration: number | undefined) {
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
    if (this.#isInside()) this.#refuse(408, "a request without end");
    else this.socket.destroy();
  }

  readOn(request: Http1ServerRequest): void {
    // Behind its end the connection is another request's, or of another protocol.
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
    // Whoever takes the bytes lets them flow.
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
    // What stands behind the request is another one's, or waits.
    const isAlone = this.#request === undefined || this.#request === request;
    return isAlone && this.#waiting === undefined && request?.holdsNothing === true;
  }

  readonly #onData = (bytes: Buffer): void => {
    // The stream would do the same in a tick of its own, which costs more than the read.
    this.socket.read(0);
    this.#take(bytes, false);
  };

  /** `isLent`: they are another's when it is over. */
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
    // What is wrong with the part of a body that came with its head is known before anybody sees the request.
    if (this.#response === undefined) this.#serve(request, head);
    if (state !== "ended") return;
    request.ended();
    // Its response was first.
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

  /** The next request may have come already. */
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

  /** What came is no request, or came too slowly. */
  #refuse(status: number, reason: string): void {
    if (this.#phase === "end") return;
    const response = this.#response;
    this.#port.broken(reason, this.socket);
    // The start of its response is on its way: nobody may take the refusal for the rest.
    if (response?.headersSent === true) {
      this.socket.destroy();
      return;
    }
    this.#port.malformed();
    this.#respond(status);
    response?.closed();
    this.#request?.abort();
  }

  /** Responds where no exchange can be made of a request. */
  #respond(status: number): void {
    this.socket.write(
      `${statusLine(status)}connection: close\r\ncontent-length: 0\r\n\r\n`,
      "latin1",
    );
    this.#end();
  }

  /** Nothing more is sent; what comes is read and thrown away for a while. */
  #end(): void {
    this.#begin("end");
    this.socket.end();
    this.#resumeSocket();
  }

  /** The client sends nothing more: it is taken for one that has left. */
  #onEnd(): void {
    const { socket } = this;
    if (this.#phase === "other protocol" || this.#phase === "end") return;
    if (this.#isInside()) {
      this.#refuse(400, "the end of the connection inside a request");
      return;
    }
    const response = this.#response;
    // What it still has to take is on its way.
    this.#isEnding = true;
    if (response?.isEnded === true) return;
    response?.closed();
    this.#begin("end");
    socket.end();
  }

  /** Looked at from tick to tick: a client that takes what it is sent at once costs no timer. */
  #timeWrites(): void {
    const isResponding = this.#phase === "response" || this.#phase === "body";
    const isTimed = isResponding && this.socket.writableLength > 0;
    if (isTimed === this.#isTimed) return;
    this.#isTimed = isTimed;
    this.socket.setTimeout(isTimed ? this.#port.idleTimeout : 0);
  }

  #onTimeout(): void {
    if (this.socket.writableLength === 0) return;
    this.#port.broken("a client that takes nothing of its response", this.socket);
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

  /** A request has begun, and not all of it was read. */
  #isInside(): boolean {
    return this.#phase === "body" || (this.#phase === "head" && this.#hasBegun());
  }

  /** Bytes of a request were read. */
  #hasBegun(): boolean {
    return this.#request?.hasBegun === true;
  }

  /** A client that does not wait for responses is read as far as what waits is not too much. */
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

/** Milliseconds that a client gets for what it does; others take as long as they take. */
const PHASE_TIMES: Readonly<Partial<Record<Phase, number>>> = {
  head: HEAD_TIME,
  body: BODY_TIME,
  end: LINGER_TIME,
};

/** What is wrong beyond being malformed. */
const STATUSES: Readonly<Record<string, number>> = {
  [ENDLESS_HEAD]: 431,
  [ENDLESS_TRAILERS]: 431,
  [ENDLESS_CHUNK_LINE]: 413,
};
