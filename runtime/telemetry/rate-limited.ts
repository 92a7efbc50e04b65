import { type Exchange, logFields } from "../http/exchange.ts";
import { rateLimited } from "../metrics/table/limits.ts";

/** Counts and logs a request that a limit refuses. `limit`: its place in the configuration, or its subject. */
export function noteRateLimited(
  { record, gateway }: Exchange,
  policy: "apiKey" | "localRateLimit" | "remoteRateLimit",
  limit: string,
): void {
  logFields(record).set("limit", limit);
  const route = record.route ?? "unknown";
  gateway.metrics.counter(rateLimited, route, policy, limit).value += 1;
}
