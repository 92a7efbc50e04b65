import type { UpstreamFailure, UpstreamHandler, UpstreamRequest } from "./upstream.ts";

/** A request that is never sent: its handler gets the failure later, as every failure. */
export class UnsentRequest implements UpstreamRequest {
  #isAborted = false;

  constructor(handler: UpstreamHandler, failure: UpstreamFailure) {
    queueMicrotask(() => {
      if (!this.#isAborted) handler.onError(failure);
    });
  }

  abort(): void {
    this.#isAborted = true;
  }

  resume(): void {}
}
