import { headerValue } from "../../http/headers/header-list.ts";
import type { UpstreamFailure } from "../../http/upstream/upstream.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { ProviderHead } from "./attempt-outcome.ts";

/** What clients learn of a call that failed without a response. */
export const unreachable = {
  connect: { kind: "overloaded", message: "the provider is not reachable", status: 503 },
  closed: serverError("the provider closed the connection"),
  protocol: serverError("the provider gave no valid response"),
  timeout: { kind: "timeout", message: "the provider did not respond in time", status: 504 },
} as const satisfies Readonly<Record<UpstreamFailure["kind"], LlmError>>;

/** What it is taken for when its response is no such. */
export const noValidResponse = unreachable.protocol;

/** An error of a provider that it did not say itself. */
export function serverError(message: string): LlmError {
  return { kind: "server", message, status: 502 };
}

/** Whether an error in a stream is about the provider, and not about the request. */
export function isOfProvider({ kind }: LlmError): boolean {
  switch (kind) {
    case "rate-limit":
    case "quota":
    case "overloaded":
    case "server":
    case "timeout":
      return true;
    default:
      return false;
  }
}

/** What some providers say in the body stands in a header of the others. */
export function withRetryAfter(head: ProviderHead, { retryAfter }: LlmError): ProviderHead {
  const isSaid = headerValue(head.headers, "retry-after") !== undefined;
  if (retryAfter === undefined || isSaid) return head;
  return { status: head.status, headers: [...head.headers, "retry-after", String(retryAfter)] };
}
