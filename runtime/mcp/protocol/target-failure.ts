import type { Message } from "./message.ts";

/** Why a target returned no response. */
export interface TargetFailure {
  /**
   * `session`: the target does not know the session any more. `status`: the target returned an unexpected HTTP status.
   * `cancelled`: the client has cancelled the request. `draining`: the gateway is shutting down.
   */
  readonly kind:
    | "connect"
    | "timeout"
    | "closed"
    | "protocol"
    | "session"
    | "status"
    | "duplicate"
    | "cancelled"
    | "draining";
  /** For the log only. */
  readonly detail: string;
  /** HTTP status of the response; absent if there was no response or the status is not the reason. */
  readonly status?: number;
  /** Headers of the response that tell the client how to continue (Retry-After, WWW-Authenticate), as a flat list. */
  readonly headers?: readonly string[];
  /** The JSON-RPC error in the response, as JSON text; absent if there is none or the client must not see it. */
  readonly error?: string;
  /** Name of the target that failed, for the client; absent if the client knows no target. */
  readonly target?: string;
}

/** The result of a request to a target. */
export type Outcome =
  | { readonly kind: "response"; readonly response: Message }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** The failure of a target that returns an error for a list that it declares. */
export const listFailure: TargetFailure = {
  kind: "protocol",
  detail: "answered a list with an error",
};
