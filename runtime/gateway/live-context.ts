import type { EnvVariables } from "../cel/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { BodyRates } from "../process/body-rates.ts";
import { BufferBudget } from "../process/buffer-budget.ts";
import { type Indexed, SwapSet } from "../process/deadlines.ts";
import type {
  GatewayContext,
  LiveSession,
  PersistedState,
  SharedDocument,
  SharedThreads,
} from "../process/gateway-context.ts";
import type { SharedConnection } from "../process/shared-connection.ts";
import type { ProcessSettings } from "./environment.ts";
import type { WorkerPlace } from "./workers/worker-place.ts";

/** What the context takes of the process's settings. */
export type ContextSettings = Pick<
  ProcessSettings,
  "sessionKey" | "env" | "maxBufferedBytes" | "stateDir"
>;

/** The context of a running process. */
export class LiveContext implements GatewayContext {
  readonly sessionKey: Buffer;
  readonly env: EnvVariables;
  readonly sessions: Map<string, LiveSession> = new Map();
  readonly documents: Map<string, SharedDocument> = new Map();
  readonly connections: Map<string, SharedConnection> = new Map();
  readonly stateDir: string | undefined;
  readonly persistedStates: Map<string, PersistedState> = new Map();
  readonly metrics: Metrics;
  readonly buffers: BufferBudget;
  readonly bodyRates: BodyRates = new BodyRates();
  ports: ReadonlySet<number> = new Set();
  readonly threads: SharedThreads | undefined;
  readonly warn: (message: string) => void;
  isDraining = false;
  isOverdue = false;
  readonly #deadlineListeners = new SwapSet<Listener>();
  readonly #reloadListeners = new SwapSet<Listener>();

  constructor(
    { sessionKey, env, maxBufferedBytes, stateDir }: ContextSettings,
    metrics: Metrics,
    warn: (message: string) => void,
    place?: WorkerPlace & SharedThreads,
  ) {
    this.sessionKey = sessionKey;
    this.env = env;
    this.stateDir = stateDir;
    this.metrics = metrics;
    this.buffers = new BufferBudget(maxBufferedBytes, place?.buffers, place?.index);
    this.threads = place;
    this.warn = warn;
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

  /** Another configuration is served: who waits for the next event hears of it. */
  reloaded(): void {
    this.#reloadListeners.visit(({ listener }) => listener());
  }

  /** The drain's last deadline: whoever still streams ends now. */
  reachDeadline(): void {
    this.isOverdue = true;
    this.#deadlineListeners.visit((each) => {
      this.#deadlineListeners.delete(each);
      each.listener();
    });
  }

  /** Writes down what a restart must not forget. */
  async flush(): Promise<void> {
    await Promise.all(Array.from(this.persistedStates.values(), (state) => state.flush()));
  }

  /** Ends every live session: children, streams. */
  closeSessions(): void {
    for (const session of this.sessions.values()) session.close();
    this.sessions.clear();
  }
}

/** Who is told of something. */
interface Listener extends Indexed {
  readonly listener: () => void;
}

/** Listens until the function that is returned is called. */
function listenTo(listeners: SwapSet<Listener>, listener: () => void): () => void {
  const member = { place: 0, listener };
  listeners.add(member);
  return () => listeners.delete(member);
}
