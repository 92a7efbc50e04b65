import type { OnAbort } from "../../process/on-abort.ts";
import type { CallSpan } from "../exchange-trace.ts";
import type { Upstream } from "./upstream.ts";

/** A request of the gateway itself. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  /** Flat list, without Host. */
  readonly headers: readonly string[];
  /** Host to send, if the server is reached in a special way; its own name if absent. */
  readonly authority?: string | undefined;
  readonly body?: Buffer;
  /** The server of the URL, if it is reached in a special way. */
  readonly server?: Upstream | undefined;
  /** Span of the request; absent without one. */
  readonly span?: CallSpan | undefined;
}

/** Limits of a fetch. */
export interface FetchLimits {
  /** Maximum bytes of the response's body. */
  readonly maxBytes: number;
  /** Milliseconds from the first byte sent to the last byte read. */
  readonly deadline: number;
  /** Required status; any if absent. */
  readonly expectedStatus?: number;
  /** Registers a callback that aborts the fetch before the deadline. */
  readonly onAbort?: OnAbort;
}

/** The complete response to a fetch. */
export interface FetchedResponse {
  readonly status: number;
  /** Flat list. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}
