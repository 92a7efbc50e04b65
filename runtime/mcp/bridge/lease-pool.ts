import type { GatewayContext, LiveSession } from "../../process/gateway-context.ts";
import { MINUTE } from "../../process/units.ts";
import type { Lease } from "./lease.ts";
import type { LeasedCall } from "./leased-call.ts";

/** How long a session waits for the next request of its client's. */
const idle = 1 * MINUTE;
/** How many of one client wait. */
const mostIdle = 4;

/**
 * The sessions that clients without sessions have with targets, and the calls that wait for such a client to say more. It
 * lives in the gateway's context and so outlives a reload.
 */
export class LeasePool implements LiveSession {
  readonly #idle = new Map<string, { readonly lease: Lease; readonly timer: NodeJS.Timeout }[]>();
  /** By the ids that are sealed into the states of their clients. */
  readonly #parked = new Map<string, LeasedCall>();

  /** A session that its client has used before; `key` says whose it is. */
  take(key: string): Lease | undefined {
    const waiting = this.#idle.get(key);
    const found = waiting?.pop();
    if (waiting?.length === 0) this.#idle.delete(key);
    if (found === undefined) return undefined;
    clearTimeout(found.timer);
    return found.lease.link.isOpen ? found.lease : this.take(key);
  }

  /** Keeps a session for its client's next request. Undefined: nobody can say who comes next. */
  giveBack(key: string | undefined, lease: Lease): void {
    const waiting = key === undefined ? [] : (this.#idle.get(key) ?? []);
    if (key === undefined || waiting.length >= mostIdle || !lease.link.isOpen) {
      lease.link.close();
      return;
    }
    const timer = setTimeout(() => {
      this.#drop(key, lease);
      lease.link.close();
    }, idle).unref();
    waiting.push({ lease, timer });
    this.#idle.set(key, waiting);
  }

  #drop(key: string, lease: Lease): void {
    const left = (this.#idle.get(key) ?? []).filter((each) => each.lease !== lease);
    if (left.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, left);
  }

  get parkedCount(): number {
    return this.#parked.size;
  }

  park(id: string, call: LeasedCall): void {
    this.#parked.set(id, call);
  }

  /** The call that waits under this id; from now on it does not. */
  unpark(id: string): LeasedCall | undefined {
    const call = this.#parked.get(id);
    this.#parked.delete(id);
    return call;
  }

  close(): void {
    for (const call of this.#parked.values()) call.expire();
    for (const waiting of this.#idle.values()) {
      for (const { lease, timer } of waiting) {
        clearTimeout(timer);
        lease.link.close();
      }
    }
    this.#idle.clear();
  }
}

/** The pool of this process. */
export function leasePool({ sessions }: Pick<GatewayContext, "sessions">): LeasePool {
  const found = sessions.get(poolKey);
  // Only this function writes under the key.
  if (found !== undefined) return found as LeasePool;
  const pool = new LeasePool();
  sessions.set(poolKey, pool);
  return pool;
}

const poolKey = "mcp leases";
