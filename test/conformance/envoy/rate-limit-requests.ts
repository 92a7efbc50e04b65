import type { OracleRequest } from "./oracle-request.ts";

/** Requests that the service counts itself: it lets three through for each user. */
const counted: readonly OracleRequest[] = [
  ...series("a user", 6, { setup: "user", headers: { "x-user": "anna" } }),
  ...series("another user", 4, { setup: "user", headers: { "x-user": "bert" } }),
  ...series("a user and a path", 5, { setup: "two", headers: { "x-user": "carl" }, path: "/a" }),
  ...series("the same user elsewhere", 2, {
    setup: "two",
    headers: { "x-user": "carl" },
    path: "/b",
  }),
  ...series("nobody", 2, { setup: "user" }),
  ...series("nobody somewhere", 2, { setup: "two" }),
  ...series("a fixed value", 4, { setup: "fixed" }),
  ...series("a user with a HEAD request", 2, {
    setup: "user",
    method: "HEAD",
    headers: { "x-user": "dora" },
  }),
  ...series("a user with a body", 5, {
    setup: "user",
    method: "POST",
    body: "hello",
    headers: { "x-user": "emil" },
  }),
];

const limit = { requests_per_unit: 10, unit: "MINUTE" };

/** Other answers of the service, by the behaviour that they show. */
const verdicts: Readonly<Record<string, object>> = {
  "a verdict alone": { overall_code: "OK" },
  "no verdict": {},
  "a refusal alone": { overall_code: "OVER_LIMIT" },
  "a refusal with a body": { overall_code: "OVER_LIMIT", raw_body: btoa("slow down") },
  "a refusal with headers": {
    overall_code: "OVER_LIMIT",
    response_headers_to_add: [{ key: "x-why", value: "limit" }],
  },
  "a refusal with a type": {
    overall_code: "OVER_LIMIT",
    raw_body: btoa("{}"),
    response_headers_to_add: [{ key: "content-type", value: "application/json" }],
  },
  "a header of the request": {
    overall_code: "OK",
    request_headers_to_add: [{ key: "x-left", value: "1" }],
  },
  "a header of the request that is there": {
    overall_code: "OK",
    request_headers_to_add: [{ key: "x-user", value: "1" }],
  },
  "a header of the request with bytes": {
    overall_code: "OK",
    request_headers_to_add: [{ key: "x-left", raw_value: btoa("1") }],
  },
  "an empty header of the request": {
    overall_code: "OK",
    request_headers_to_add: [{ key: "x-left", value: "" }],
  },
  "another path": { overall_code: "OK", request_headers_to_add: [{ key: ":path", value: "/no" }] },
  "another host": { overall_code: "OK", request_headers_to_add: [{ key: "host", value: "no" }] },
  "a header of the response": {
    overall_code: "OK",
    response_headers_to_add: [{ key: "x-left", value: "1" }],
  },
  "a header of the response that is there": {
    overall_code: "OK",
    response_headers_to_add: [{ key: "x-from", value: "service" }],
  },
  "two headers of one name": {
    overall_code: "OK",
    response_headers_to_add: [
      { key: "x-left", value: "1" },
      { key: "x-left", value: "2" },
    ],
  },
  "a limit": {
    overall_code: "OK",
    statuses: [status("OK", 7, "20s")],
  },
  "a limit without an end": {
    overall_code: "OK",
    statuses: [{ code: "OK", current_limit: limit, limit_remaining: 7 }],
  },
  "two limits": {
    overall_code: "OK",
    statuses: [status("OK", 7, "20s"), status("OK", 2, "40s")],
  },
  "a limit and none": {
    overall_code: "OK",
    statuses: [{ code: "OK" }, status("OK", 7, "20s")],
  },
  "a limit that is reached": {
    overall_code: "OVER_LIMIT",
    statuses: [status("OVER_LIMIT", 0, "20s")],
  },
  "one of two limits that is reached": {
    overall_code: "OVER_LIMIT",
    statuses: [status("OK", 3, "20s"), status("OVER_LIMIT", 0, "40s")],
  },
  "a limit by the hour": {
    overall_code: "OK",
    statuses: [
      {
        code: "OK",
        current_limit: { requests_per_unit: 5, unit: "HOUR" },
        limit_remaining: 1,
        duration_until_reset: "3000s",
      },
    ],
  },
  "a limit with a name": {
    overall_code: "OK",
    statuses: [
      {
        code: "OK",
        current_limit: { ...limit, name: "per-user" },
        limit_remaining: 1,
        duration_until_reset: "30s",
      },
    ],
  },
  metadata: { overall_code: "OK", dynamic_metadata: { a: "b" } },
  "an error": { abort: "INTERNAL" },
  "a service that is away": { abort: "UNAVAILABLE" },
  "a service without room": { abort: "RESOURCE_EXHAUSTED" },
  "an unknown domain": { abort: "INVALID_ARGUMENT" },
};

/** Requests that a limit service decides. */
export const rateLimitRequests: readonly OracleRequest[] = [
  ...counted,
  ...Object.entries(verdicts).map(([name, verdict]) => ({
    name,
    setup: "verdict",
    headers: { "x-verdict": JSON.stringify(verdict), "x-user": "old" },
  })),
];

function series(
  name: string,
  count: number,
  request: Omit<OracleRequest, "name">,
): readonly OracleRequest[] {
  return Array.from({ length: count }, (_, i) => ({ ...request, name: `${name} (${i + 1})` }));
}

function status(code: string, remaining: number, reset: string): object {
  return {
    code,
    current_limit: limit,
    limit_remaining: remaining,
    duration_until_reset: reset,
  };
}
