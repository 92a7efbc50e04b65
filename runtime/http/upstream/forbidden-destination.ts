import type { UpstreamFailure } from "./upstream.ts";

/** A destination that a client chose and that it may not reach; the message is for the log. */
export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";
}

/** What a connection that could not be opened is to the client. */
export function connectFailure(error: Error): UpstreamFailure {
  const isForbidden = error instanceof ForbiddenDestination;
  return { kind: "connect", detail: error.message, ...(isForbidden && { isForbidden }) };
}
