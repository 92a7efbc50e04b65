import { headerValue } from "../../http/headers/header-list.ts";
import type { UpstreamFailure } from "../../http/upstream/upstream.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { ProviderHead } from "./attempt-outcome.ts";

/** Errors that clients get for calls that failed without a response. */
export const UNREACHABLE = {
  connect: { kind: "overloaded", message: "the provider is not reachable", status: 503 },
  closed: serverError("the provider closed the connection"),
  protocol: serverError("the provider gave no valid response"),
  timeout: { kind: "timeout", message: "the provider did not respond in time", status: 504 },
} as const satisfies Readonly<Record<UpstreamFailure["kind"], LlmError>>;

/** Error for a response that is not valid. */
export const INVALID_RESPONSE = UNREACHABLE.protocol;

/** Creates an error of a provider that the provider did not report itself. */
export function serverError(message: string): LlmError {
  return { kind: "server", message, status: 502 };
}

/** Whether an error in a stream concerns the provider, rather than the request. */
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

/** Adds `retry-after`: some providers report it in the body rather than in a header. */
export function withRetryAfter(head: ProviderHead, { retryAfter }: LlmError): ProviderHead {
  const hasHeader = headerValue(head.headers, "retry-after") !== undefined;
  if (retryAfter === undefined || hasHeader) return head;
  return { status: head.status, headers: [...head.headers, "retry-after", String(retryAfter)] };
}
