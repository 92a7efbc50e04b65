import type { EnvVariables, JsonObject } from "../cel/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Store } from "../store/store.ts";
import type { BodyRates } from "./body-rates.ts";
import type { BufferBudget } from "./buffer-budget.ts";
import type { SessionKeys } from "./session-seal.ts";
import type { SharedConnection } from "./shared-connection.ts";

/** State shared by the requests of one gateway process. It survives a reload of the configuration. */
export interface GatewayContext {
  /** Keys that seal session ids, from SESSION_KEY; otherwise one that is random for this process. */
  readonly sessionKeys: SessionKeys;
  /** Live state of sessions in this process (stdio children, SSE upstreams), by session id. */
  readonly sessions: Map<string, LiveSession>;
  /** Documents of other servers that requests need (key sets, metadata), by type and URL. */
  readonly documents: Map<string, SharedDocument>;
  /** Connections that calls of all routes share, by destination and settings. */
  readonly connections: Map<string, SharedConnection>;
  /** Directory of state that survives a restart (GWC_STATE_DIR); `undefined` if nothing is persisted. */
  readonly stateDir: string | undefined;
  /** State persisted in that directory, by name. */
  readonly persistedStates: Map<string, PersistedState>;
  /** State that outlives the process, or is shared by replicas; `undefined` if the configuration needs none. */
  readonly store: Store | undefined;
  /** Counters of the process. */
  readonly metrics: Metrics;
  /** Limit for messages that are buffered whole. */
  readonly buffers: BufferBudget;
  /** Finds buffered bodies that arrive too slowly. */
  readonly bodyRates: BodyRates;
  /** Ports that the process listens on. */
  readonly ports: ReadonlySet<number>;
  /** State shared with the other threads that listen on the same ports; absent without worker threads. */
  readonly threads?: SharedThreads | undefined;
  /** Values of `env` in CEL. */
  readonly env: EnvVariables;
  /** Warns the operator in the process log. Never pass a token, a body or a secret. */
  readonly warn: (message: string) => void;
  /** Writes a line of the audit log about tokens that a user has granted; does nothing without an audit log. */
  readonly auditGrant: (change: GrantChange) => void;
  /** Whether the process is shutting down: new sessions are refused, streams end at the next opportunity. */
  readonly isDraining: boolean;
  /** Whether the last deadline of the shutdown has passed: everything that is still open is aborted. */
  readonly isOverdue: boolean;
  /**
   * Calls the listener when the last deadline of the shutdown is reached: streams end with an explicit error. The returned
   * function unsubscribes.
   */
  onDrainDeadline(listener: () => void): () => void;
  /** Calls the listener after each reload of the configuration. The returned function unsubscribes. */
  onReload(listener: () => void): () => void;
}

/** The end of an order of a certificate. */
export interface CertificateChange {
  /** `issued`: the first one for its names. */
  readonly event: "issued" | "renewed" | "failed";
  readonly names: readonly string[];
  /** When the certificate in use expires (ISO 8601); `undefined` if there is none. */
  readonly expiry: string | undefined;
  /** Why an order failed; `undefined` if it did not. */
  readonly error: string | undefined;
}

/** A change of the tokens that a user has granted to the gateway, outside of a request of that user's browser. */
export interface GrantChange {
  /** Name of the user, as the user's token has it. */
  readonly identity: string;
  /** Name of the connection. */
  readonly connection: string;
  readonly event: string;
}

/** One thread's view of the threads of a process that serve the same ports. */
export interface SharedThreads {
  /** Index of this thread, from 0. */
  readonly index: number;
  readonly count: number;
  /** Whether the key of sessions is random for this process: other replicas do not have it. */
  readonly hasRandomKey: boolean;
  /** Returns memory that all threads share under this name, filled with zeros at first. */
  memory(name: string, bytes: number): SharedArrayBuffer;
  /** Returns memory for a number of keys that is persisted: it holds the values from before a restart. */
  persistedMemory(name: string, keys: number): SharedArrayBuffer;
}

/** Persisted memory of all threads, as seen by the main thread, which alone writes it to disk. */
export interface PersistedMemory extends PersistedState {
  /** Returns memory that all threads share under this name. */
  memory(name: string, keys: number): SharedArrayBuffer;
  /** Repairs the memory after a thread has ended, whatever it was writing. */
  threadEnded(thread: number): void;
}

/** A session that holds something open in this process. */
export interface LiveSession {
  /** Ends the session and everything it holds (children, streams). Can be called more than once. */
  close(): void;
}

/** State that is written to disk when it changes. */
export interface PersistedState {
  /** Resolves when all changes so far are written, or writing them has failed. */
  flush(): Promise<void>;
}

/** A cached document of another server (http/upstream/remote-document.ts). */
export interface SharedDocument {
  /**
   * Returns the cached document: the same object until its content changes. If it is older than `maxAge` milliseconds, a fetch
   * starts in the background.
   */
  current(maxAge: number): JsonObject | undefined;
  /**
   * Returns the document after the fetch that is in flight or that is permitted now; otherwise the cached one. Never rejects.
   */
  renewed(): Promise<JsonObject | undefined>;
}
