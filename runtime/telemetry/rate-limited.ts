import { type Exchange, logFields } from "../http/exchange.ts";
import { rateLimited } from "../metrics/table/limits.ts";

/** A limit refuses a request: it is counted, and the log says which one. `limit`: where the configuration has it, or what it is about. */
export function noteRateLimited(
  { record, gateway }: Exchange,
  policy: "localRateLimit" | "remoteRateLimit",
  limit: string,
): void {
  logFields(record).set("limit", limit);
  const route = record.route ?? "unknown";
  gateway.metrics.counter(rateLimited, route, policy, limit).value += 1;
}
