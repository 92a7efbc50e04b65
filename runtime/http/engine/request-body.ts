import type { BodyRates } from "../../process/body-rates.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import { type BodyProblem, type BodySink, type BodySource, collect } from "../body/body.ts";
import type { CountedBuffer } from "../body/counted-buffer.ts";
import { withTrailers } from "../body/trailed-body.ts";
import type { RequestTrailers } from "../headers/trailers.ts";
import type { EngineRequest } from "./engine.ts";

/** The body of a request that an engine reads. */
export class RequestBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: EngineRequest;
  readonly #beforeRead: () => void;
  readonly #trailers: RequestTrailers | undefined;
  #isRead = false;
  #whole: Promise<Buffer | BodyProblem> | undefined;
  #problem: BodyProblem | undefined;
  /** All of it, once `read` has it. */
  bytes: Buffer | undefined;

  /** `beforeRead` is called once when reading starts (100-continue). `trailers`: which of them go on. */
  constructor(
    request: EngineRequest,
    length: number | undefined,
    beforeRead: () => void,
    trailers: RequestTrailers | undefined,
  ) {
    this.#request = request;
    this.length = length;
    this.#beforeRead = beforeRead;
    this.#trailers = trailers;
  }

  get trailers(): readonly string[] | undefined {
    const { trailers } = this.#request;
    return trailers && this.#trailers?.passing(trailers);
  }

  /**
   * All of it, at most `limit` bytes (see `collect`), at `minRate` bytes per second or faster; at once when it has come
   * already. May be called again: it is read once.
   */
  read(
    limit: number,
    minRate: number,
    buffer: CountedBuffer,
    rates: BodyRates,
  ): MaybePromise<Buffer | BodyProblem> {
    if (!this.#isRead) this.#read(limit, minRate, buffer, rates);
    return this.bytes ?? this.#problem ?? this.#whole ?? "aborted";
  }

  takeWhole(): Buffer | undefined {
    return this.#request.takeWhole?.();
  }

  flow(sink: BodySink): void {
    this.#beforeRead();
    this.#request.flow(sink);
  }

  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }

  discard(): void {
    this.#request.discard();
  }

  /** Nobody will ask for it, unless somebody has. */
  discardUnread(): void {
    if (!this.#isRead) this.discard();
  }

  #read(limit: number, minRate: number, buffer: CountedBuffer, rates: BodyRates): void {
    this.#isRead = true;
    const whole = this.takeWhole();
    if (whole !== undefined) {
      this.#takeResult(withinBounds(whole, limit, buffer));
      return;
    }
    let later: ((result: Buffer | BodyProblem) => void) | undefined;
    const stopWatching = rates.watch(buffer, minRate, () => giveUp("too-slow"));
    const giveUp = collect(this, limit, buffer, (result) => {
      stopWatching();
      this.#takeResult(result);
      later?.(result);
    });
    if (this.bytes !== undefined || this.#problem !== undefined) return;
    this.#whole = new Promise((resolve) => {
      later = resolve;
    });
  }

  #takeResult(result: Buffer | BodyProblem): void {
    if (typeof result === "string") this.#problem = result;
    else this.bytes = result;
  }
}

/** A body that has come whole, counted; or why it can't be had. */
function withinBounds(whole: Buffer, limit: number, buffer: CountedBuffer): Buffer | BodyProblem {
  if (whole.length > limit) return "too-large";
  return buffer.push(whole) ? whole : "no-room";
}

/** How a body is read whole. */
export interface BodyReading {
  /** The most bytes. */
  readonly limit: number;
  /** Bytes per second: one that comes more slowly is given up; 0: any rate will do. */
  readonly minRate: number;
  readonly rates: BodyRates;
}

/** The body of an exchange's request: the one that the client sends, until a policy puts another one in its place. */
export class ExchangeBody {
  #sent: RequestBody | undefined;
  #replacement: Uint8Array | BodySource | undefined;
  #whole: Promise<Buffer | BodyProblem> | undefined;

  /** `sent`: what the client sends; undefined: nothing. */
  constructor(sent: RequestBody | undefined) {
    this.#sent = sent;
  }

  /** As far as it was read: its bytes, or what they come from; null: there is none. */
  get current(): Uint8Array | BodySource | null {
    if (this.#replacement !== undefined) return this.#replacement;
    const sent = this.#sent;
    if (sent?.bytes !== undefined) return withTrailers(sent.bytes, sent.trailers);
    return sent ?? null;
  }

  replace(body: Uint8Array | BodySource): void {
    this.#replacement = body;
    this.#whole = undefined;
    // What the client sends is read all the same, or its connection could not be used again.
    if (body instanceof Uint8Array) this.#sent?.discardUnread();
  }

  /** Nobody asks for it any more. */
  forget(): void {
    this.#sent = undefined;
    this.#replacement = undefined;
    this.#whole = undefined;
  }

  /** All of it; at once when it has come already. May be called again: it is read once. */
  read(
    { limit, minRate, rates }: BodyReading,
    newBuffer: () => CountedBuffer,
  ): MaybePromise<Buffer | BodyProblem> {
    const replacement = this.#replacement;
    if (replacement instanceof Uint8Array) {
      return replacement.length > limit ? "too-large" : Buffer.from(replacement);
    }
    if (replacement !== undefined) return this.#readReplacement(replacement, limit, newBuffer);
    if (this.#sent === undefined) return Buffer.alloc(0);
    const body = this.#sent.read(limit, minRate, newBuffer(), rates);
    return thenMaybe(body, (bytes) => withinLimit(bytes, limit));
  }

  /** What a policy passes the client's body through is read once, like the body itself. */
  #readReplacement(
    source: BodySource,
    limit: number,
    newBuffer: () => CountedBuffer,
  ): Promise<Buffer | BodyProblem> {
    this.#whole ??= new Promise((resolve) => {
      collect(source, limit, newBuffer(), (result) => {
        if (typeof result !== "string") this.#replacement = withTrailers(result, source.trailers);
        resolve(result);
      });
    });
    return this.#whole;
  }
}

/** It may have been read before, by somebody who wanted more. */
function withinLimit(body: Buffer | BodyProblem, limit: number): Buffer | BodyProblem {
  return typeof body !== "string" && body.length > limit ? "too-large" : body;
}
