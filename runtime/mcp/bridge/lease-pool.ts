import type { LiveSession, SharedThreads } from "../../process/gateway-context.ts";
import { MINUTE } from "../../process/units.ts";
import type { Message } from "../protocol/message.ts";
import type { McpMetrics } from "../rules/mcp-metrics.ts";
import type { SessionLimits } from "../transports/backend.ts";
import { sessionShare } from "../transports/session-share.ts";
import type { Call, CallSink } from "../transports/target.ts";
import type { WaitingCalls } from "../transports/waiting-calls.ts";
import type { Lease } from "./lease.ts";

/** The current request of a client without sessions; a call that waits for input spans several. */
export interface Leg {
  readonly request: Message;
  readonly sink: CallSink;
}

/** A call that waits for its client's next request. */
export interface ParkedCall extends Call {
  /** The caller whose share of all waiting calls it uses. */
  readonly caller: string;
  /** Continues the call with the client's next request, which contains its responses. */
  continueWith(leg: Leg): void;
  /** Ends the call: the client did not return in time. */
  expire(): void;
}

/** Milliseconds that an idle session waits for its client's next request. */
const IDLE = 1 * MINUTE;
/** Maximum number of idle sessions per client and in total. */
const maxIdle = { ofOne: 4, ofAll: 1000 };

interface IdleLease {
  readonly lease: Lease;
  readonly timer: NodeJS.Timeout;
}

/**
 * The sessions that clients without sessions have with targets, and the calls that wait for such a client's next request.
 * The pool lives in the gateway's context and so outlives a reload.
 */
export class LeasePool<Parked extends ParkedCall> implements LiveSession {
  readonly #idle = new Map<string, IdleLease[]>();
  #idleCount = 0;
  /** The waiting calls, by the ids that are sealed into their states. */
  readonly #parked = new Map<string, { call: Parked; waiting: WaitingCalls | undefined }>();
  /** Number of waiting calls by caller. */
  readonly #shares = new Map<string, number>();
  readonly #metrics: McpMetrics;

  readonly #threads: SharedThreads | undefined;

  constructor(metrics: McpMetrics, threads: SharedThreads | undefined) {
    this.#metrics = metrics;
    this.#threads = threads;
  }

  /** Removes and returns an idle session of the owner that `key` identifies. */
  take(key: string): Lease | undefined {
    for (const { lease } of [...(this.#idle.get(key) ?? [])].reverse()) {
      this.#forget(key, lease);
      if (lease.link.isOpen) return lease;
    }
    return undefined;
  }

  /** Stores a session for its owner's next request; closes it if `key` is `undefined`, as its owner is unknown. */
  giveBack(key: string | undefined, lease: Lease): void {
    lease.onMessage = undefined;
    const waiting = key === undefined ? [] : (this.#idle.get(key) ?? []);
    const isFull = waiting.length >= maxIdle.ofOne || this.#idleCount >= maxIdle.ofAll;
    if (key === undefined || isFull || !lease.link.isOpen) {
      lease.link.close();
      return;
    }
    const timer = setTimeout(() => {
      this.#forget(key, lease);
      lease.link.close();
    }, IDLE).unref();
    this.#idle.set(key, [...waiting, { lease, timer }]);
    this.#idleCount++;
  }

  /** Stores a waiting call. Returns false if too many wait. `waiting`: through which other replicas can continue it. */
  park(id: string, call: Parked, limits: SessionLimits, waiting?: WaitingCalls): boolean {
    const { live, perCaller } = sessionShare(limits, this.#threads);
    const own = this.#shares.get(call.caller) ?? 0;
    if (this.#parked.size >= live || own >= perCaller) return false;
    this.#parked.set(id, { call, waiting });
    waiting?.add(id, (request, sink) => {
      this.unpark(id);
      call.continueWith({ request, sink });
      return call;
    });
    this.#shares.set(call.caller, own + 1);
    this.#metrics.beginWaiting("stateless");
    return true;
  }

  /** Removes and returns the waiting call with this id. */
  unpark(id: string): Parked | undefined {
    const parked = this.#parked.get(id);
    if (parked === undefined) return undefined;
    const { call, waiting } = parked;
    this.#parked.delete(id);
    waiting?.delete(id);
    const left = (this.#shares.get(call.caller) ?? 1) - 1;
    if (left === 0) this.#shares.delete(call.caller);
    else this.#shares.set(call.caller, left);
    this.#metrics.endWaiting("stateless");
    return call;
  }

  close(): void {
    for (const { call } of [...this.#parked.values()]) call.expire();
    for (const [key, waiting] of [...this.#idle]) {
      for (const { lease } of waiting) {
        this.#forget(key, lease);
        lease.link.close();
      }
    }
  }

  #forget(key: string, lease: Lease): void {
    const waiting = this.#idle.get(key) ?? [];
    const left = waiting.filter((each) => each.lease !== lease);
    if (left.length === waiting.length) return;
    for (const each of waiting) if (each.lease === lease) clearTimeout(each.timer);
    this.#idleCount--;
    if (left.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, left);
  }
}
