import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Returns the time in milliseconds of a clock that all threads share. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** Destination of the requests. */
export interface LoadTarget {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly isTls: boolean;
}

/** Result of one request. */
export interface LoadOutcome {
  /** A whole response came, with a status below 400. */
  readonly isGood: boolean;
  readonly milliseconds: number;
}

const lastChunk = Buffer.from("\r\n0\r\n\r\n");

/** One connection on which one request follows another. */
export class LoadClient {
  readonly #socket: Socket;
  readonly #done: (outcome: LoadOutcome, client: LoadClient) => void;
  #pending: Buffer = Buffer.alloc(0);
  #since = 0;
  #isEnded = false;

  /** `ready`: it is connected. `done`: a response has come, or never will. */
  constructor(
    { port, isTls }: LoadTarget,
    ready: (client: LoadClient) => void,
    done: (outcome: LoadOutcome, client: LoadClient) => void,
  ) {
    const host = "127.0.0.1";
    const begin = (): void => ready(this);
    this.#done = done;
    this.#socket = isTls
      ? connectTls({ port, host, rejectUnauthorized: false }, begin)
      : connect(port, host, begin);
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", () => this.#fail());
    this.#socket.on("close", () => this.#fail());
  }

  /** Sends a request, whose time counts from `since`; nothing on a connection that has ended. */
  ask(request: Uint8Array, since: number = now()): void {
    if (this.#isEnded) return;
    this.#since = since;
    this.#socket.write(request);
  }

  end(): void {
    this.#isEnded = true;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = bytes;
    const headEnd = bytes.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const head = bytes.toString("latin1", 0, headEnd);
    if (/transfer-encoding: chunked/i.test(head)) {
      if (!bytes.subarray(-lastChunk.length).equals(lastChunk)) return;
    } else {
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? "0");
      if (bytes.length < headEnd + 4 + length) return;
    }
    this.#pending = Buffer.alloc(0);
    this.#tell(/^HTTP\/1\.1 [23]/.test(head));
  }

  #fail(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#tell(false);
  }

  #tell(isGood: boolean): void {
    this.#done({ isGood, milliseconds: now() - this.#since }, this);
  }
}
