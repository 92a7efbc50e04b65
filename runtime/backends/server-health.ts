import type { ResponseVariables } from "../cel/variables.ts";
import { ReceivedResponse } from "../http/received-response.ts";
import { SECOND } from "../process/units.ts";
import type { ActiveCheckSettings } from "./active-check.ts";

/** When a server of several is left alone, and for how long. */
export interface HealthSettings {
  /** Milliseconds of the first ejection; each further one in a row is longer by as much. */
  readonly eviction: number;
  /** Failures in a row after which it is ejected; absent: unless `healthThreshold` is there, the first one. */
  readonly consecutiveFailures?: number;
  /** It is ejected after a failure that leaves its health (0..1) below this. */
  readonly healthThreshold?: number;
  /** Its health when it returns; absent: what it was. */
  readonly restoreHealth?: number;
  /** Whether a response is a failure; absent: by its status. */
  readonly isUnhealthy?: (response: ResponseVariables) => boolean;
  /** It is asked how it does; absent: only its responses say. */
  readonly active?: ActiveCheckSettings;
  /** The part of all servers below which those that do well are not left to do everything; absent: none. */
  readonly panicThreshold?: number;
}

/** For servers that fail by giving no response alone, or one that breaks off. */
export function isNeverUnhealthy(): boolean {
  return false;
}

/** The longest ejection in milliseconds, also when the server asks for more: then it is tried again. */
const MAX_EVICTION = 300 * SECOND;

/** The share of the last request in the averages. */
const WEIGHT = 0.3;

/** Seconds that a server is taken to need before anything is known of its group. */
const ASSUMED_LATENCY = 1;

/** What is known of how a server does: plain numbers, and all requests of the process share them. */
export class ServerHealth {
  readonly settings: HealthSettings;
  /** Moving average of success: 1 is all well. */
  score = 1;
  /** Moving average of the seconds to the first content of responses; undefined before the first one. */
  latency: number | undefined;
  /** Requests that wait for their end. */
  pending = 0;
  /** In a row. */
  failures = 0;
  #ejections = 0;
  /** Of the monotonic clock. */
  #ejectedUntil = 0;
  #isEjected = false;

  constructor(settings: HealthSettings) {
    this.settings = settings;
  }

  /** `now`: milliseconds of the monotonic clock. The first question after an ejection ends it. */
  isEjected(now: number): boolean {
    if (!this.#isEjected) return false;
    if (now < this.#ejectedUntil) return true;
    this.#isEjected = false;
    this.failures = 0;
    this.score = this.settings.restoreHealth ?? this.score;
    return false;
  }

  /** Milliseconds until it is asked again; 0 unless it is ejected. */
  ejectedFor(now: number): number {
    return this.isEjected(now) ? this.#ejectedUntil - now : 0;
  }

  /** Whether a response shows that it does badly; `failures`: the statuses of that where no expression says. */
  isFailure(
    status: number,
    headers: readonly string[],
    failures: (status: number) => boolean,
  ): boolean {
    const { isUnhealthy } = this.settings;
    if (isUnhealthy === undefined) return failures(status);
    return isUnhealthy(new ReceivedResponse(status, headers));
  }

  /** A response came whole; `latency`: seconds to its first content. */
  succeed(latency: number): void {
    this.score += WEIGHT * (1 - this.score);
    this.latency = this.latency === undefined ? latency : mean(this.latency, latency);
    this.failures = 0;
    if (!this.#isEjected) this.#ejections = 0;
  }

  /** The server failed; `retryAfter`: the milliseconds for which it asks to be left alone. */
  fail(now: number, retryAfter: number | undefined): void {
    this.score -= WEIGHT * this.score;
    // What was sent before the ejection says nothing new.
    if (this.isEjected(now)) return;
    this.failures += 1;
    if (!this.#isOverThreshold()) return;
    this.#ejections += 1;
    const time = retryAfter ?? this.settings.eviction * this.#ejections;
    this.#ejectedUntil = now + Math.min(time, MAX_EVICTION);
    this.#isEjected = true;
  }

  /** How good a choice it is: the more the better. `groupLatency`: in the place of its own before its first response. */
  rank(groupLatency: number | undefined): number {
    const latency = this.latency ?? groupLatency ?? ASSUMED_LATENCY;
    return this.score / (1 + latency * (1 + 0.1 * this.pending));
  }

  #isOverThreshold(): boolean {
    const { consecutiveFailures, healthThreshold } = this.settings;
    if (healthThreshold !== undefined && this.score < healthThreshold) return true;
    const isAlone = healthThreshold === undefined;
    return this.failures >= (consecutiveFailures ?? (isAlone ? 1 : Number.POSITIVE_INFINITY));
  }
}

function mean(before: number, last: number): number {
  return before + WEIGHT * (last - before);
}
