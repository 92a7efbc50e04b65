import type { OnAbort } from "../../process/on-abort.ts";
import type { CallSpan } from "../exchange-trace.ts";
import type { Upstream } from "./upstream.ts";

/** A request that the gateway makes for itself. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  /** Flat list, without Host. */
  readonly headers: readonly string[];
  /** What its server is asked as, when that is reached in a way of its own; absent: by its own name. */
  readonly authority?: string | undefined;
  readonly body?: Buffer;
  /** The server of the URL, when it is reached in a way of its own. */
  readonly server?: Upstream | undefined;
  /** The span of the request to that server; absent: it has none. */
  readonly span?: CallSpan | undefined;
}

/** When a fetch is given up. */
export interface FetchLimits {
  /** Bytes of the response's body. */
  readonly maxBytes: number;
  /** Milliseconds from the first byte sent to the last byte read. */
  readonly deadline: number;
  /** A response with another status is an error; absent: none is. */
  readonly expectedStatus?: number;
  /** Registers who gives up before the deadline. */
  readonly onAbort?: OnAbort;
}

/** The whole response to a fetch. */
export interface FetchedResponse {
  readonly status: number;
  /** Flat list. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}
