import type { EnvVariables, JsonObject } from "../cel/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { BodyRates } from "./body-rates.ts";
import type { BufferBudget } from "./buffer-budget.ts";
import type { SharedConnection } from "./shared-connection.ts";

/** What the requests of one gateway process share; it outlives a reload of the configuration. */
export interface GatewayContext {
  /**
   * Key of AES-256-GCM for session ids: 32 bytes from SESSION_KEY (64 hex digits), else random for this process.
   */
  readonly sessionKey: Buffer;
  /** Live state that belongs to a session id and this process (stdio children, SSE upstreams), by session. */
  readonly sessions: Map<string, LiveSession>;
  /** Documents that requests need from other servers (key sets, metadata), by what they are and their URL. */
  readonly documents: Map<string, SharedDocument>;
  /** Connections that calls of all routes share, by what they lead to and how. */
  readonly connections: Map<string, SharedConnection>;
  /** The directory of what a restart must not forget, GWC_STATE_DIR; undefined: nothing is written down. */
  readonly stateDir: string | undefined;
  /** What is written down there, by what it is. */
  readonly persistedStates: Map<string, PersistedState>;
  /** What is counted. */
  readonly metrics: Metrics;
  /** What messages that are read whole may take, together. */
  readonly buffers: BufferBudget;
  /** How fast messages come that are read whole. */
  readonly bodyRates: BodyRates;
  /** The ports that the process listens on. */
  readonly ports: ReadonlySet<number>;
  /** What it shares with other threads that listen on them as well; absent: there are none. */
  readonly threads?: SharedThreads | undefined;
  /** Where the gateway runs: `env` in CEL. */
  readonly env: EnvVariables;
  /** Warns the operator, in the process log. Never with a token, a body or a secret. */
  readonly warn: (message: string) => void;
  /** True once the process was told to end: new sessions are refused, streams end when they can. */
  readonly isDraining: boolean;
  /** True once the drain's last deadline is over: what is still open is broken off. */
  readonly isOverdue: boolean;
  /** Calls the listener when the drain's last deadline is reached: streams end with an explicit error. */
  onDrainDeadline(listener: () => void): () => void;
  /** Calls the listener each time another configuration is served from then on. */
  onReload(listener: () => void): () => void;
}

/** The threads of a process that serve the same, as one of them sees them. */
export interface SharedThreads {
  /** Which one this is, from 0. */
  readonly index: number;
  readonly count: number;
  /** Memory that all of them have under this name: zeros, when it is asked for first. */
  memory(name: string, bytes: number): SharedArrayBuffer;
  /** Memory for as many keys, which is written down: what was before a restart is in it. */
  persistedMemory(name: string, keys: number): SharedArrayBuffer;
}

/** What threads share and a restart must not forget, as the main thread sees it, which is the only one that writes it down. */
export interface PersistedMemory extends PersistedState {
  /** What all of them have under this name. */
  memory(name: string, keys: number): SharedArrayBuffer;
  /** A thread has ended, whatever it was doing with one of them. */
  threadEnded(thread: number): void;
}

/** A session that holds something open in this process. */
export interface LiveSession {
  /** Ends it and all it holds (children, streams). Safe to call again. */
  close(): void;
}

/** State that is written down when it changes. */
export interface PersistedState {
  /** Resolves when all changes so far are written, or could not be. */
  flush(): Promise<void>;
}

/** A document of another server that is kept in memory (http/upstream/remote-document.ts). */
export interface SharedDocument {
  /**
   * The document as it is known now; the same object until its content changes. Older than `maxAge` milliseconds: a
   * fetch is started in the background.
   */
  current(maxAge: number): JsonObject | undefined;
  /** The document after a fetch, when one is under way or permitted now; else as it is known. Never rejects. */
  renewed(): Promise<JsonObject | undefined>;
}
