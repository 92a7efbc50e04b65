import type { RateLimitResponse_DescriptorStatus } from "../../grpc/gen/envoy/service/ratelimit/v3/rls_pb.ts";

/** Returns the headers of the limit with the least remaining; none if no limit is known. */
export function strictestLimit(
  statuses: readonly RateLimitResponse_DescriptorStatus[],
): ReadonlyMap<string, string> {
  const limited = statuses.filter(({ currentLimit }) => currentLimit !== undefined);
  const [strictest] = limited.toSorted((a, b) => a.limitRemaining - b.limitRemaining);
  if (strictest === undefined) return new Map();
  const { currentLimit, limitRemaining, durationUntilReset } = strictest;
  const headers = new Map([
    ["x-ratelimit-limit", String(currentLimit?.requestsPerUnit)],
    ["x-ratelimit-remaining", String(limitRemaining)],
  ]);
  if (durationUntilReset !== undefined) {
    headers.set("x-ratelimit-reset", String(durationUntilReset.seconds));
  }
  return headers;
}
