import type { BodyRates } from "../../process/body-rates.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import {
  type BodyObserver,
  type BodyProblem,
  type BodySink,
  type BodySource,
  collect,
  observedSink,
} from "../body/body.ts";
import type { CountedBuffer } from "../body/counted-buffer.ts";
import { withTrailers } from "../body/trailed-body.ts";
import type { RequestTrailers } from "../headers/trailers.ts";
import type { EngineRequest } from "./engine.ts";

/** Others that take part in the reading of a body. */
export interface RequestBodyHooks {
  /** Called once when reading starts (100-continue). */
  readonly beforeRead: () => void;
  /** Selects the trailers that are forwarded; `undefined` without any. */
  readonly trailers: RequestTrailers | undefined;
  /** Sees the pieces; `undefined` if nobody does. */
  readonly observer: BodyObserver | undefined;
}

/** The body of a request that an engine reads. */
export class RequestBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: EngineRequest;
  readonly #beforeRead: () => void;
  readonly #trailers: RequestTrailers | undefined;
  readonly #observer: BodyObserver | undefined;
  #isRead = false;
  #whole: Promise<Buffer | BodyProblem> | undefined;
  #problem: BodyProblem | undefined;
  /** The whole body, after `read`. */
  bytes: Buffer | undefined;

  constructor(
    request: EngineRequest,
    length: number | undefined,
    { beforeRead, trailers, observer }: RequestBodyHooks,
  ) {
    this.#request = request;
    this.length = length;
    this.#beforeRead = beforeRead;
    this.#trailers = trailers;
    this.#observer = observer;
  }

  get trailers(): readonly string[] | undefined {
    const { trailers } = this.#request;
    return trailers && this.#trailers?.passing(trailers);
  }

  /**
   * Reads the whole body: at most `limit` bytes (see `collect`), at `minRate` bytes per second or faster; synchronously if it
   * has arrived. Later calls return the same result.
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
    const whole = this.#request.takeWhole?.();
    if (whole !== undefined) this.#observer?.push(whole);
    return whole;
  }

  flow(sink: BodySink): void {
    this.#beforeRead();
    const observer = this.#observer;
    this.#request.flow(observer === undefined ? sink : observedSink(sink, observer));
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

  /** Discards the body unless reading has started. */
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

/** Counts a body that has arrived whole, or returns why it is refused. */
function withinBounds(whole: Buffer, limit: number, buffer: CountedBuffer): Buffer | BodyProblem {
  if (whole.length > limit) return "too-large";
  return buffer.push(whole) ? whole : "no-room";
}

/** Limits for reading a body whole. */
export interface BodyReading {
  /** Maximum number of bytes. */
  readonly limit: number;
  /** Minimum bytes per second; 0: no minimum. */
  readonly minRate: number;
  readonly rates: BodyRates;
}

/** The body of an exchange's request: the client's, until a policy replaces it. */
export class ExchangeBody {
  #sent: RequestBody | undefined;
  #replacement: Uint8Array | BodySource | undefined;
  #whole: Promise<Buffer | BodyProblem> | undefined;

  /** `sent`: the client's body; `undefined` without one. */
  constructor(sent: RequestBody | undefined) {
    this.#sent = sent;
  }

  /** The bytes, or their source if they were not read; null without a body. */
  get current(): Uint8Array | BodySource | null {
    if (this.#replacement !== undefined) return this.#replacement;
    const sent = this.#sent;
    if (sent?.bytes !== undefined) return withTrailers(sent.bytes, sent.trailers);
    return sent ?? null;
  }

  replace(body: Uint8Array | BodySource): void {
    this.#replacement = body;
    this.#whole = undefined;
    // The client's body must be read all the same, or its connection could not be reused.
    if (body instanceof Uint8Array) this.#sent?.discardUnread();
  }

  /** Drops the body. */
  forget(): void {
    this.#sent = undefined;
    this.#replacement = undefined;
    this.#whole = undefined;
  }

  /** Returns the whole body; synchronously if it has arrived. Later calls return the same result. */
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

  /** Reads a policy's replacement once, like the body itself. */
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

/** It may have been read before with a higher limit. */
function withinLimit(body: Buffer | BodyProblem, limit: number): Buffer | BodyProblem {
  return typeof body !== "string" && body.length > limit ? "too-large" : body;
}
