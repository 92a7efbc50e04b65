import type { SharedThreads } from "../../process/gateway-context.ts";
import type { SessionLimits } from "./backend.ts";

/**
 * Returns a thread's share of the session limits. The shares add up to at most the limits, as long as there are not more
 * threads than sessions.
 */
export function sessionShare(
  limits: SessionLimits,
  threads: SharedThreads | undefined,
): Pick<SessionLimits, "live" | "perCaller"> {
  if (threads === undefined) return limits;
  const share = (limit: number) => Math.max(1, Math.floor(limit / threads.count));
  return { live: share(limits.live), perCaller: share(limits.perCaller) };
}
