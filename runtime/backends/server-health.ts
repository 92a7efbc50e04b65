import type { ResponseVariables } from "../cel/variables.ts";
import { ReceivedResponse } from "../http/received-response.ts";
import { SECOND } from "../process/units.ts";
import type { ActiveCheckSettings } from "./active-check.ts";

/** When a server is ejected, and for how long. */
export interface HealthSettings {
  /** Milliseconds of the first ejection; each consecutive one is longer by as much. */
  readonly eviction: number;
  /** Number of consecutive failures before ejection; if absent, one, unless `healthThreshold` is set. */
  readonly consecutiveFailures?: number;
  /** Health (0..1) below which a failure ejects the server. */
  readonly healthThreshold?: number;
  /** Health after an ejection; unchanged if absent. */
  readonly restoreHealth?: number;
  /** Whether a response counts as failure; by its status if absent. */
  readonly isUnhealthy?: (response: ResponseVariables) => boolean;
  /** Settings of health checks; without them, only responses count. */
  readonly active?: ActiveCheckSettings;
  /** Share of healthy servers below which ejected ones get requests too; no limit if absent. */
  readonly panicThreshold?: number;
}

/** Ignores responses: only a missing or aborted response counts as failure. */
export function isNeverUnhealthy(): boolean {
  return false;
}

/** Longest ejection in milliseconds, even if the server requests a longer one; it is then tried again. */
const MAX_EVICTION = 300 * SECOND;

/** Weight of the latest request in the averages. */
const WEIGHT = 0.3;

/** Assumed latency of a server in seconds, until something is known about its group. */
const ASSUMED_LATENCY = 1;

/** Health of a server, as plain numbers shared by all requests of the process. */
export class ServerHealth {
  readonly settings: HealthSettings;
  /** Moving average of success; 1 means no failures. */
  score = 1;
  /** Moving average of the seconds to the first content of responses; `undefined` before the first one. */
  latency: number | undefined;
  /** Number of requests in flight. */
  pending = 0;
  /** Number of consecutive failures. */
  failures = 0;
  #ejections = 0;
  /** Time of the monotonic clock. */
  #ejectedUntil = 0;
  #isEjected = false;

  constructor(settings: HealthSettings) {
    this.settings = settings;
  }

  /** Whether the server is ejected at `now` (milliseconds of the monotonic clock). The first call after an ejection ends it. */
  isEjected(now: number): boolean {
    if (!this.#isEjected) return false;
    if (now < this.#ejectedUntil) return true;
    this.#isEjected = false;
    this.failures = 0;
    this.score = this.settings.restoreHealth ?? this.score;
    return false;
  }

  /** Returns the milliseconds until it gets requests again; 0 unless it is ejected. */
  ejectedFor(now: number): number {
    return this.isEjected(now) ? this.#ejectedUntil - now : 0;
  }

  /** Whether a response counts as failure; `failures`: statuses that do, if there is no expression. */
  isFailure(
    status: number,
    headers: readonly string[],
    failures: (status: number) => boolean,
  ): boolean {
    const { isUnhealthy } = this.settings;
    if (isUnhealthy === undefined) return failures(status);
    return isUnhealthy(new ReceivedResponse(status, headers));
  }

  /** Records a complete response; `latency`: seconds to its first content. */
  succeed(latency: number): void {
    this.score += WEIGHT * (1 - this.score);
    this.latency = this.latency === undefined ? latency : mean(this.latency, latency);
    this.failures = 0;
    if (!this.#isEjected) this.#ejections = 0;
  }

  /** Records a failure; `retryAfter`: milliseconds that the server requests to be left alone. */
  fail(now: number, retryAfter: number | undefined): void {
    this.score -= WEIGHT * this.score;
    // Requests sent before the ejection add nothing new.
    if (this.isEjected(now)) return;
    this.failures += 1;
    if (!this.#isOverThreshold()) return;
    this.#ejections += 1;
    const time = retryAfter ?? this.settings.eviction * this.#ejections;
    this.#ejectedUntil = now + Math.min(time, MAX_EVICTION);
    this.#isEjected = true;
  }

  /** Ranks the server; higher is better. `groupLatency`: used before its first response. */
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
