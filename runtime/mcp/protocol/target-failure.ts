import type { Message } from "./message.ts";

/** Why a target gave no response. */
export interface TargetFailure {
  /**
   * `session`: the target doesn't know the session any more. `status`: it answered with another HTTP status.
   * `cancelled`: the client has taken the request back. `draining`: the gateway ends.
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
  /** HTTP status of the response; absent if there was none, or if it is not the reason. */
  readonly status?: number;
}

/** What a target made of a request. */
export type Outcome =
  | { readonly kind: "response"; readonly response: Message }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** A target that has a list, and does not show it. */
export const listFailure: TargetFailure = {
  kind: "protocol",
  detail: "answered a list with an error",
};
