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
