import type { MessagePort } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { FamilyFigures } from "../../metrics/merged-exposition.ts";
import type { BuildInfo } from "../build-info.ts";
import type { WorkerPlace } from "./worker-place.ts";

/** Data of a starting thread. */
export interface WorkerStart extends WorkerPlace {
  readonly kind: "gwc-worker";
  /** Whether it logs the events that all threads share. */
  readonly speaks: boolean;
  /** Ports to threads that already serve. */
  readonly links: readonly ThreadPorts[];
  readonly build: BuildInfo;
  /** Code for a script that can serve different code. */
  readonly code: unknown;
  /** Notices to all threads so far. */
  readonly notices: readonly unknown[];
}

/** A message of the main thread to a serving thread. */
export type WorkerOrder =
  /** End as at SIGTERM. */
  | { readonly kind: "end" }
  /** No thread has a connection left. */
  | { readonly kind: "allClosed" }
  /** Another thread has started. */
  | { readonly kind: "link"; readonly link: ThreadPorts }
  /** Report your figures. */
  | { readonly kind: "count"; readonly question: number }
  /** Prepare other code, as one of so many threads. */
  | {
      readonly kind: "prepare";
      readonly code: unknown;
      readonly build: BuildInfo;
      readonly count: number;
    }
  /** Serve the prepared code, or discard it. */
  | { readonly kind: "commit" }
  | { readonly kind: "abort" }
  /** A notice for the script. */
  | { readonly kind: "notify"; readonly notice: unknown };

/** Requested memory: bytes of zeros, or persisted memory for a number of keys. */
export type MemorySize = { readonly bytes: number } | { readonly keptKeys: number };

/** A message of a thread to the main thread. */
export type WorkerReport =
  /** It serves all ports. */
  | { readonly kind: "serving" }
  /** It ends and has no connection left. */
  | { readonly kind: "closed" }
  /** It cannot start; the message is for the operator. */
  | { readonly kind: "failed"; readonly message: string }
  /** It can serve the other code, or it has a problem with it. */
  | { readonly kind: "prepared"; readonly problem: string | undefined }
  /** It serves the other code. */
  | { readonly kind: "committed" }
  /** Lines for the log. */
  | { readonly kind: "lines"; readonly lines: string }
  /** A line for the audit log. */
  | { readonly kind: "audit"; readonly line: string }
  /** It blocks until `signal` is not 0: the memory of a name is then sent over the port. */
  | {
      readonly kind: "memory";
      readonly name: string;
      readonly size: MemorySize;
      readonly signal: Int32Array;
      readonly port: MessagePort;
    }
  | ({ readonly kind: "counted"; readonly question: number } & ThreadState);

/** State of a thread. */
export interface ThreadState {
  readonly figures: readonly FamilyFigures[];
  /** Whether it waits for nothing. */
  readonly isReady: boolean;
}
