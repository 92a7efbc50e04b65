import type { EnvVariables } from "../cel/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { BodyRates } from "../process/body-rates.ts";
import { BufferBudget } from "../process/buffer-budget.ts";
import type {
  GatewayContext,
  GrantChange,
  LiveSession,
  PersistedState,
  SharedDocument,
  SharedThreads,
} from "../process/gateway-context.ts";
import type { SessionKeys } from "../process/session-seal.ts";
import type { SharedConnection } from "../process/shared-connection.ts";
import type { Store } from "../store/store.ts";
import { type Indexed, SwapSet } from "../time/deadlines.ts";
import type { ProcessSettings } from "./environment.ts";
import type { WorkerPlace } from "./workers/worker-place.ts";

/** Settings of the process that the context needs. */
export type ContextSettings = Pick<
  ProcessSettings,
  "sessionKeys" | "env" | "maxBufferedBytes" | "stateDir"
>;

/** Context of a running process. */
export class LiveContext implements GatewayContext {
  readonly sessionKeys: SessionKeys;
  readonly env: EnvVariables;
  readonly sessions: Map<string, LiveSession> = new Map();
  readonly documents: Map<string, SharedDocument> = new Map();
  readonly connections: Map<string, SharedConnection> = new Map();
  readonly stateDir: string | undefined;
  readonly persistedStates: Map<string, PersistedState> = new Map();
  store: Store | undefined;
  /** Identity of the store in the configuration. */
  storeIdentity: string | undefined;
  readonly metrics: Metrics;
  readonly buffers: BufferBudget;
  readonly bodyRates: BodyRates = new BodyRates();
  ports: ReadonlySet<number> = new Set();
  readonly threads: SharedThreads | undefined;
  readonly warn: (message: string) => void;
  isDraining = false;
  isOverdue = false;
  #auditGrant: GatewayContext["auditGrant"] | undefined;
  readonly #deadlineListeners = new SwapSet<Listener>();
  readonly #reloadListeners = new SwapSet<Listener>();

  constructor(
    { sessionKeys, env, maxBufferedBytes, stateDir }: ContextSettings,
    metrics: Metrics,
    warn: (message: string) => void,
    place?: WorkerPlace & SharedThreads,
  ) {
    this.sessionKeys = sessionKeys;
    this.env = env;
    this.stateDir = stateDir;
    this.metrics = metrics;
    this.buffers = new BufferBudget(maxBufferedBytes, place?.buffers, place?.index);
    this.threads = place;
    this.warn = warn;
  }

  readonly auditGrant = (change: GrantChange): void => this.#auditGrant?.(change);

  /** Sets the function that writes changes of grants to the audit log. */
  auditGrants(write: GatewayContext["auditGrant"]): void {
    this.#auditGrant = write;
  }

  onDrainDeadline(listener: () => void): () => void {
    if (this.isOverdue) {
      listener();
      return () => {};
    }
    return listenTo(this.#deadlineListeners, listener);
  }

  onReload(listener: () => void): () => void {
    return listenTo(this.#reloadListeners, listener);
  }

  /** Notifies listeners that another configuration is served. */
  reloaded(): void {
    this.#reloadListeners.visit(({ listener }) => listener());
  }

  /** Notifies streams that the last deadline of the shutdown is reached. */
  reachDeadline(): void {
    this.isOverdue = true;
    this.#deadlineListeners.visit((each) => {
      this.#deadlineListeners.delete(each);
      each.listener();
    });
  }

  /** Writes all persisted state. */
  async flush(): Promise<void> {
    await Promise.all(Array.from(this.persistedStates.values(), (state) => state.flush()));
  }

  /** Ends every live session: children, streams. */
  closeSessions(): void {
    for (const session of this.sessions.values()) session.close();
    this.sessions.clear();
  }
}

/** A registered callback. */
interface Listener extends Indexed {
  readonly listener: () => void;
}

/** Registers a callback until the returned function is called. */
function listenTo(listeners: SwapSet<Listener>, listener: () => void): () => void {
  const member = { place: 0, listener };
  listeners.add(member);
  return () => listeners.delete(member);
}
