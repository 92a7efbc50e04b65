import type { SharedThreads } from "../../process/gateway-context.ts";
import type { SessionLimits } from "./backend.ts";

/** What a thread may hold of them: all of the process have as many together, as long as there are not more threads than sessions. */
export function sessionShare(
  limits: SessionLimits,
  threads: SharedThreads | undefined,
): Pick<SessionLimits, "live" | "perCaller"> {
  if (threads === undefined) return limits;
  const share = (limit: number) => Math.max(1, Math.floor(limit / threads.count));
  return { live: share(limits.live), perCaller: share(limits.perCaller) };
}
