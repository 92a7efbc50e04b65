import type { EnvVariables } from "../cel/variables.ts";
import type { GatewayContext, LiveSession, SharedDocument } from "../process/gateway-context.ts";

/** The context of a running process. */
export class LiveContext implements GatewayContext {
  readonly sessionKey: Buffer;
  readonly env: EnvVariables;
  readonly sessions: Map<string, LiveSession> = new Map();
  readonly documents: Map<string, SharedDocument> = new Map();
  ports: ReadonlySet<number> = new Set();
  readonly warn: (message: string) => void;
  isDraining = false;
  isOverdue = false;
  readonly #deadlineListeners: Set<() => void> = new Set();

  constructor(sessionKey: Buffer, env: EnvVariables, warn: (message: string) => void) {
    this.sessionKey = sessionKey;
    this.env = env;
    this.warn = warn;
  }

  onDrainDeadline(listener: () => void): () => void {
    if (this.isOverdue) {
      listener();
      return () => {};
    }
    this.#deadlineListeners.add(listener);
    return () => this.#deadlineListeners.delete(listener);
  }

  /** The drain's last deadline: whoever still streams ends now. */
  reachDeadline(): void {
    this.isOverdue = true;
    for (const listener of this.#deadlineListeners) listener();
    this.#deadlineListeners.clear();
  }

  /** Ends every live session: children, streams. */
  closeSessions(): void {
    for (const session of this.sessions.values()) session.close();
    this.sessions.clear();
  }
}
