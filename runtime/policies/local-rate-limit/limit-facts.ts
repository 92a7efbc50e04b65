import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { SECOND } from "../../process/units.ts";
import { noteRateLimited } from "../../telemetry/rate-limited.ts";

/** The parts of a limit that are independent of the caller. */
export interface LimitFacts {
  readonly capacity: number;
  readonly origin: string;
  readonly spent?: string | undefined;
  /** Models, as clients name them, whose calls had no cost; each is logged once. */
  readonly unpriced: Set<string>;
}

/** Returns the parts of a limit that are independent of the caller. */
export function limitFacts({ capacity, origin, spent }: Omit<LimitFacts, "unpriced">): LimitFacts {
  return { capacity, origin, spent, unpriced: new Set() };
}

/** Refuses a request that has to wait for some milliseconds with 429. */
export function refuseFor(
  exchange: Exchange,
  wait: number,
  { capacity, origin, spent }: LimitFacts,
): true {
  noteRateLimited(exchange, "localRateLimit", origin);
  const seconds = String(Math.max(1, Math.ceil(wait / 1000)));
  const message =
    spent === undefined ? "rate limit exceeded" : `${spent}; it resets at ${resetTime(wait)}`;
  refuse(exchange, 429, "RateLimit", message, [
    "x-ratelimit-limit",
    String(capacity),
    "x-ratelimit-remaining",
    "0",
    "x-ratelimit-reset",
    seconds,
    "retry-after",
    seconds,
  ]);
  return true;
}

/** Returns the time after a wait in milliseconds as ISO 8601, in whole seconds. */
export function resetTime(wait: number): string {
  const time = Math.ceil((Date.now() + wait) / SECOND) * SECOND;
  return new Date(time).toISOString().replace(".000Z", "Z");
}
