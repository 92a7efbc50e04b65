import type { UpstreamFailure } from "./upstream.ts";

/** A request that a credential keeps from being sent, and what that is to the client. */
export class CallRefused extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}
