import type { MessagePort } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { FamilyFigures } from "../../metrics/merged-exposition.ts";
import type { BuildInfo } from "../build-info.ts";
import type { WorkerPlace } from "./worker-place.ts";

/** What a thread is started with. */
export interface WorkerStart extends WorkerPlace {
  readonly kind: "gwc-worker";
  /** Whether it says what all of them do. */
  readonly speaks: boolean;
  /** Ways to those that serve already. */
  readonly links: readonly ThreadPorts[];
  readonly build: BuildInfo;
  /** What it serves, for a script that serves what it is given. */
  readonly code: unknown;
  /** What all threads were notified of so far. */
  readonly notices: readonly unknown[];
}

/** What the process asks of a thread that serves. */
export type WorkerOrder =
  /** To end as SIGTERM has it. */
  | { readonly kind: "end" }
  /** No thread has a connection any more. */
  | { readonly kind: "allClosed" }
  /** There is another thread. */
  | { readonly kind: "link"; readonly link: ThreadPorts }
  /** To say what it has counted. */
  | { readonly kind: "count"; readonly question: number }
  /** To get ready for serving other code, as one of so many. */
  | {
      readonly kind: "prepare";
      readonly code: unknown;
      readonly build: BuildInfo;
      readonly count: number;
    }
  /** To serve it, or to leave all as it is. */
  | { readonly kind: "commit" }
  | { readonly kind: "abort" }
  /** Something that its script knows what to do with. */
  | { readonly kind: "notify"; readonly notice: unknown };

/** What memory is asked for: so many zeros, or that of so many keys which is written down. */
export type MemorySize = { readonly bytes: number } | { readonly keptKeys: number };

/** What such a thread says to the process. */
export type WorkerReport =
  /** It serves all ports. */
  | { readonly kind: "serving" }
  /** It ends, and has no connection any more. */
  | { readonly kind: "closed" }
  /** It can't start: the message is for the operator. */
  | { readonly kind: "failed"; readonly message: string }
  /** Other code can be served from now on, or, where there is a problem, can't be. */
  | { readonly kind: "prepared"; readonly problem: string | undefined }
  /** And is. */
  | { readonly kind: "committed" }
  /** Lines for the log. */
  | { readonly kind: "lines"; readonly lines: string }
  /** A line for the audit log. */
  | { readonly kind: "audit"; readonly line: string }
  /** It waits until `signal` is not 0: memory under a name is to come over the port. */
  | {
      readonly kind: "memory";
      readonly name: string;
      readonly size: MemorySize;
      readonly signal: Int32Array;
      readonly port: MessagePort;
    }
  | ({ readonly kind: "counted"; readonly question: number } & ThreadState);

/** What a thread says of itself when it is asked. */
export interface ThreadState {
  readonly figures: readonly FamilyFigures[];
  /** It waits for nothing any more. */
  readonly isReady: boolean;
}
