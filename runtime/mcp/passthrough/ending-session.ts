import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";

/**
 * Handles the response to a client's DELETE. The client gets it after `end`, so that it finds the session ended at every
 * replica.
 */
export class EndingSession implements UpstreamHandler {
  readonly #next: UpstreamHandler;
  readonly #end: () => MaybePromise<void>;
  #request: UpstreamRequest | undefined;
  /** Parts of the response that wait for the end; `undefined` if the client gets them at once. */
  #held: (() => void)[] | undefined;

  constructor(next: UpstreamHandler, end: () => MaybePromise<void>) {
    this.#next = next;
    this.#end = end;
  }

  start(send: (handler: UpstreamHandler) => UpstreamRequest): UpstreamRequest {
    this.#request = send(this);
    return this.#request;
  }

  onHead(status: number, headers: readonly string[]): void {
    const ended = hasEnded(status) ? this.#end() : undefined;
    if (ended instanceof Promise) {
      this.#held = [];
      void ended.then(() => this.#release());
    }
    this.#pass(() => this.#next.onHead(status, headers));
  }

  onData(chunk: Buffer): boolean {
    if (this.#held === undefined) return this.#next.onData(chunk);
    this.#held.push(() => void this.#next.onData(chunk));
    return false;
  }

  onEnd(trailers?: readonly string[]): void {
    this.#pass(() => this.#next.onEnd(trailers));
  }

  onError(failure: UpstreamFailure): void {
    this.#pass(() => this.#next.onError(failure));
  }

  #pass(part: () => void): void {
    if (this.#held === undefined) part();
    else this.#held.push(part);
  }

  #release(): void {
    for (const part of this.#held ?? []) part();
    this.#held = undefined;
    this.#request?.resume();
  }
}

/** Whether a target has ended its session or reports that it no longer exists. */
function hasEnded(status: number): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 410;
}
