import { randomBytes } from "node:crypto";
import { mcpSessions } from "../../metrics/table/mcp.ts";
import type { GatewayContext, LiveSession, SharedThreads } from "../../process/gateway-context.ts";
import { sealNonce } from "../../process/session-seal.ts";
import type { SessionLimits } from "../transports/backend.ts";
import { ProcessCounts } from "../transports/process-counts.ts";
import { ProcessGroups } from "../transports/process-groups.ts";
import { sessionShare } from "../transports/session-share.ts";
import type { TransportHost } from "../transports/transport.ts";
import type { LiveParts, McpSession } from "./session.ts";

/**
 * The MCP sessions of a process. The table lives in the gateway's context and so outlives a reload: newer code uses the
 * object that older code of the same version created.
 */
export interface SessionTable extends LiveSession {
  /** Finds a session that was recently opened or resumed here. */
  find(id: string): McpSession | undefined;
  findLive(id: string): LiveParts | undefined;
  remember(session: McpSession): void;
  /** Closes the connections of the session; its id stays invalid until it expires. */
  end(session: McpSession): void;
  /** Returns a session that was recently opened or resumed here, by the nonce of its id. */
  withNonce(nonce: string): McpSession | undefined;
  /** Whether the id belongs to a session that was ended here. */
  isEnded(id: string): boolean;
  /**
   * Opens a set of connections for a caller, or returns the one that others with the same key share. `undefined` if the
   * limits are reached and no session can be ended to make room.
   */
  openLive(limits: SessionLimits, caller: string, key?: string): LiveParts | undefined;
  closeLive(live: LiveParts): void;
  host(gateway: GatewayContext, messageLimit: number): TransportHost;
}

/** Returns the table of this process. */
export function sessionTable(
  gateway: Pick<GatewayContext, "sessions" | "metrics" | "threads">,
): SessionTable {
  const found = gateway.sessions.get(TABLE_KEY);
  // Only this function writes under the key.
  if (found !== undefined) return found as SessionTable;
  const table = new Sessions(gateway);
  gateway.sessions.set(TABLE_KEY, table);
  return table;
}

const TABLE_KEY = "mcp";

/** Maximum number of cached sessions. Sessions of HTTP targets are restored from their ids, so this bounds only a cache. */
const MAX_REMEMBERED = 4096;

/** Maximum number of ended sessions that are remembered, about 100 bytes each; the oldest is dropped first. */
const MAX_ENDED = 65_536;

/** Maximum number of characters of a target's output in one log line. */
const MAX_LOG_TEXT = 4096;

/** Maximum milliseconds between two checks for idle sessions. */
const MAX_SWEEP = 30_000;

class Sessions implements SessionTable {
  /** By the nonces of their ids. Ordered by last use once there are many, see `find`. */
  readonly #remembered = new Map<string, McpSession>();
  /** When the ids of ended sessions expire (milliseconds since the epoch), by their nonces. */
  readonly #ended = new Map<string, number>();
  readonly #live = new Map<string, LiveParts>();
  /** The live parts that have a key. */
  readonly #shared = new Map<string, LiveParts>();
  readonly #groups = new ProcessGroups();
  #sweeper: NodeJS.Timeout | undefined;
  #sweepInterval = 0;

  readonly #threads: SharedThreads | undefined;

  constructor({ metrics, threads }: Pick<GatewayContext, "metrics" | "threads">) {
    this.#threads = threads;
    metrics.read(mcpSessions, () => [[[], this.#live.size]]);
  }

  find(id: string): McpSession | undefined {
    const nonce = sealNonce(id);
    const session = this.#remembered.get(nonce);
    if (session?.id !== id) return undefined;
    if (session.live !== undefined) {
      // The connections have ended in the meantime, so the id is invalid.
      if (!this.#live.has(session.live.id)) return undefined;
      session.live.usedAt = Date.now();
    }
    // The order of use matters only once there are many; deleting and inserting on every request is expensive.
    if (this.#remembered.size > MAX_REMEMBERED / 2) {
      this.#remembered.delete(nonce);
      this.#remembered.set(nonce, session);
    }
    return session;
  }

  findLive(id: string): LiveParts | undefined {
    const live = this.#live.get(id);
    if (live !== undefined) live.usedAt = Date.now();
    return live;
  }

  remember(session: McpSession): void {
    this.#remembered.set(sealNonce(session.id), session);
    if (this.#remembered.size <= MAX_REMEMBERED) return;
    for (const [nonce, { targets }] of this.#remembered) {
      // Its client has to respond to a request, which needs this object.
      if (targets.some((target) => target?.kind === "stateless" && target.calls.size > 0)) continue;
      this.#remembered.delete(nonce);
      return;
    }
  }

  end(session: McpSession): void {
    const nonce = sealNonce(session.id);
    session.isEnded = true;
    this.#remembered.delete(nonce);
    this.#forgetExpired();
    this.#ended.set(nonce, session.expiresAt);
    for (const end of session.streams) end();
    if (session.live !== undefined) this.closeLive(session.live);
    session.distant?.end();
  }

  withNonce(nonce: string): McpSession | undefined {
    return this.#remembered.get(nonce);
  }

  isEnded(id: string): boolean {
    return this.#ended.has(sealNonce(id));
  }

  openLive(limits: SessionLimits, caller: string, key?: string): LiveParts | undefined {
    const shared = key === undefined ? undefined : this.#shared.get(key);
    if (shared !== undefined) {
      shared.usedAt = Date.now();
      return shared;
    }
    if (!this.#makeRoom(limits, caller)) return undefined;
    const id = randomBytes(16).toString("base64url");
    const live: LiveParts = {
      id,
      key,
      caller,
      connections: [],
      idle: limits.idle,
      usedAt: Date.now(),
      isEstablished: false,
    };
    this.#live.set(id, live);
    if (key !== undefined) this.#shared.set(key, live);
    this.#sweepEvery(Math.min(MAX_SWEEP, limits.idle / 2));
    return live;
  }

  closeLive(live: LiveParts): void {
    if (!this.#live.delete(live.id)) return;
    if (live.key !== undefined) this.#shared.delete(live.key);
    for (const connection of live.connections) connection.close();
    live.onClosed?.();
    if (this.#live.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  host(gateway: GatewayContext, messageLimit: number): TransportHost {
    const log = (target: string, text: string) => {
      const isShort = text.length <= MAX_LOG_TEXT;
      gateway.warn(`mcp target ${target}: ${isShort ? text : `${text.slice(0, MAX_LOG_TEXT)}...`}`);
    };
    const counts = gateway.metrics.part(ProcessCounts);
    return { messageLimit, groups: this.#groups, counts, log };
  }

  close(): void {
    for (const live of [...this.#live.values()]) this.closeLive(live);
    this.#remembered.clear();
  }

  /** Insertion order is nearly the order of expiry, so the loop can stop early; beyond the limit the oldest are dropped. */
  #forgetExpired(): void {
    const now = Date.now();
    for (const [nonce, expiresAt] of this.#ended) {
      if (expiresAt > now && this.#ended.size < MAX_ENDED) return;
      this.#ended.delete(nonce);
    }
  }

  #sweepEvery(interval: number): void {
    if (this.#sweeper !== undefined && this.#sweepInterval <= interval) return;
    clearInterval(this.#sweeper);
    this.#sweepInterval = interval;
    this.#sweeper = setInterval(() => this.#sweep(), interval).unref();
  }

  #sweep(): void {
    const now = Date.now();
    for (const live of [...this.#live.values()]) {
      if (isBusy(live)) live.usedAt = now;
      else if (live.usedAt + live.idle < now) this.closeLive(live);
    }
  }

  /** Makes room for a session. A caller never displaces a session of another one that has no more sessions than itself. */
  #makeRoom(limits: SessionLimits, caller: string): boolean {
    const { live: max, perCaller } = sessionShare(limits, this.#threads);
    const counts = new Map<string, number>();
    for (const live of this.#live.values()) {
      counts.set(live.caller, (counts.get(live.caller) ?? 0) + 1);
    }
    const own = counts.get(caller) ?? 0;
    if (own < perCaller && this.#live.size < max) return true;
    let first: LiveParts | undefined;
    let firstCount = 0;
    for (const live of this.#live.values()) {
      const count = counts.get(live.caller) ?? 0;
      const isPossible = live.caller === caller || (own < perCaller && count > own);
      if (!isPossible || isBusy(live) || count < firstCount) continue;
      if (first !== undefined && count === firstCount && live.usedAt >= first.usedAt) continue;
      first = live;
      firstCount = count;
    }
    if (first === undefined) return false;
    this.closeLive(first);
    return true;
  }
}

function isBusy(live: LiveParts): boolean {
  return live.connections.some((connection) => connection.isBusy);
}
