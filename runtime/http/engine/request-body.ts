import type { BodyRates } from "../../process/body-rates.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { type BodyProblem, type BodySink, type BodySource, collect } from "../body/body.ts";
import type { CountedBuffer } from "../body/counted-buffer.ts";
import type { RequestTrailers } from "../headers/request-trailers.ts";
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
