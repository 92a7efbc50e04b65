import type { ServerHealth } from "../../backends/server-health.ts";
import { retryAfter } from "../../http/headers/retry-after.ts";
import { SECOND } from "../../process/units.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";

/** Notes how a request ended for the health of its provider; `start`: milliseconds of the monotonic clock. */
export function noteOutcome(health: ServerHealth, outcome: AttemptOutcome, start: number): void {
  if (outcome.kind === "abandoned") return;
  // Nobody can have a provider left alone that does well.
  if (outcome.kind === "responded" && outcome.isOfClient) return;
  const now = performance.now();
  if (isFailure(health, outcome)) health.fail(now, askedPause(outcome));
  else if (outcome.kind === "responded") {
    health.succeed(((outcome.firstContent ?? now) - start) / SECOND);
  }
}

/** No response, or one that broke off, is always a failure; of the others the configuration or the status decides. */
function isFailure(
  health: ServerHealth,
  { head, error }: Exclude<AttemptOutcome, { kind: "abandoned" }>,
): boolean {
  if (head === undefined) return true;
  // What it said was not to be said: it has worked.
  if (head.status < 300 && error !== undefined) return error.kind !== "filtered";
  return health.isFailure(head.status, head.headers, (status) => status >= 500 || status === 429);
}

/** Milliseconds for which a provider that has too much to do wants to be left alone. */
function askedPause({ head }: Exclude<AttemptOutcome, { kind: "abandoned" }>): number | undefined {
  return head?.status === 429 ? retryAfter(head.headers) : undefined;
}
