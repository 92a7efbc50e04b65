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
  /** Closes the connection and everything that belongs to it. May be called again; does not call `onClose`. */
  close(): void;
}

/** Why a transport is closed; `detail` is for the log. */
export interface TransportFailure {
  readonly kind: "connect" | "closed";
  readonly detail: string;
}

/** Callbacks of a transport. */
export interface TransportEvents {
  onMessage(text: string): void;
  /** The target refused a message; the connection stays usable. */
  onRefused(text: string, detail: string): void;
  /** The connection failed or has ended. Called once. */
  onClose(failure: TransportFailure): void;
}

/** The parts of the process that a transport uses. */
export interface TransportHost {
  /** Maximum number of bytes of one message from a target, and of unread messages to it. */
  readonly messageLimit: number;
  /** The process groups of children. */
  readonly groups: ProcessGroups;
  readonly counts: ProcessCounts;
  /** Logs a line about a target. */
  log(target: string, text: string): void;
}
