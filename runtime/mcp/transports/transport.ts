import type { ProcessCounts } from "./process-counts.ts";
import type { ProcessGroups } from "./process-groups.ts";

/** A connection to a target that lives in this process: a child, or an SSE stream. */
export interface Transport {
  readonly isOpen: boolean;
  /** Sends one JSON-RPC message. */
  send(text: string): void;
  /** Stops reading what the target sends until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it and all that belongs to it. Safe to call again; `onClose` is not called for it. */
  close(): void;
}

/** Why a transport is closed; `detail` is for the log. */
export interface TransportFailure {
  readonly kind: "connect" | "closed";
  readonly detail: string;
}

/** What a transport reports. */
export interface TransportEvents {
  onMessage(text: string): void;
  /** The target refused a message, and goes on. */
  onRefused(text: string, detail: string): void;
  /** There was no connection to be had, or it has ended; once. */
  onClose(failure: TransportFailure): void;
}

/** What a transport needs of the process it lives in. */
export interface TransportHost {
  /** The most bytes of one message from a target, and of messages that it has not yet read. */
  readonly messageLimit: number;
  /** The groups of children. */
  readonly groups: ProcessGroups;
  readonly counts: ProcessCounts;
  /** Says something about a target in the gateway's log. */
  log(target: string, text: string): void;
}
