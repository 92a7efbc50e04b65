import type { ThreadLine } from "../../../process/thread-links.ts";
import type { BodySink, BodySource } from "../../body/body.ts";
import type { EngineConnection, EngineRequest } from "../engine.ts";
import type { HandedOver, HandoverMessage } from "./handover-message.ts";

/**
 * A request on a connection of another thread. After the connection has left HTTP, also the client's bytes, instead of a body.
 */
export class HandedOverRequest implements EngineRequest, BodySource {
  readonly length = undefined;
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly httpVersion: string;
  readonly socket: EngineConnection;
  readonly acceptsTrailers: boolean;
  trailers: readonly string[] | undefined;
  readonly #line: ThreadLine<HandoverMessage>;
  /** The body, if it arrived with the head. */
  #whole: Buffer | undefined;
  #sink: BodySink | undefined;
  #isPaused = false;
  readonly #held: Buffer[] = [];
  #isComplete: boolean;

  constructor(head: HandedOver, line: ThreadLine<HandoverMessage>) {
    const { body, connection } = head;
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = [...head.rawHeaders];
    this.httpVersion = head.httpVersion;
    this.acceptsTrailers = head.acceptsTrailers;
    this.trailers = head.trailers;
    this.#line = line;
    this.#whole = body && asBuffer(body);
    this.#isComplete = body !== undefined;
    const { certificate, ...facts } = connection;
    this.socket = {
      ...facts,
      getPeerX509Certificate: () => certificate,
      resetAndDestroy: () => line.send({ kind: "reset" }),
    };
  }

  takeWhole(): Buffer | undefined {
    const whole = this.#whole;
    this.#whole = undefined;
    return whole;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    const whole = this.takeWhole();
    if (whole !== undefined) this.#held.push(whole);
    if (this.#isComplete) this.#deliver();
    else this.#line.send({ kind: "flow" });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  discard(): void {
    this.#sink = undefined;
    this.#held.length = 0;
    if (!this.#isComplete) this.#line.send({ kind: "discard" });
  }

  /** Receives a piece of the body. */
  received(bytes: Uint8Array): void {
    this.#held.push(asBuffer(bytes));
    this.#deliver();
  }

  /** Receives the end of the body. */
  ended(trailers: readonly string[] | undefined): void {
    this.trailers = trailers;
    this.#isComplete = true;
    this.#deliver();
  }

  /** Receives that the body was aborted. */
  abort(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#held.length = 0;
    sink?.onAbort();
  }

  #deliver(): void {
    while (this.#sink !== undefined && !this.#isPaused) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#sink.onData(next);
      if (!this.#isComplete) this.#line.send({ kind: "read", bytes: next.length });
    }
    if (!this.#isComplete || this.#isPaused || this.#held.length > 0) return;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
