import { type Exchange, logFields, type RefusalReason } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import { type LlmError, LlmRefusal, rejectionReason } from "../chat/llm-error.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import type { CallGuards } from "./call-guards.ts";
import { forwardedHeaders } from "./call-headers.ts";
import { respondError } from "./respond-error.ts";
import type { LlmTarget } from "./target.ts";

/** The last attempt, and its target. */
export type FailedAttempt = Extract<AttemptOutcome, { kind: "failed" }> & {
  readonly target: LlmTarget;
};

/** Responds with the error of the last provider. Rejects with LlmRefusal if a guard refuses the error. */
export async function respondFailedCall(
  exchange: Exchange,
  { target, head, error: failure, isFromProvider }: FailedAttempt,
  { guards, errors }: { readonly guards: CallGuards | undefined; readonly errors: ErrorFormat },
): Promise<void> {
  const error = isFromProvider && guards ? await guards.errorFor(target, failure) : failure;
  if (exchange.isOver) return;
  exchange.record.reason = error.kind === "timeout" ? "Timeout" : "UpstreamFailure";
  // A provider's message is not logged: it may repeat the client's input.
  if (!isFromProvider) noteError(exchange, error);
  const headers =
    error.own === undefined
      ? forwardedHeaders(head?.headers ?? [], target.provider, errors)
      : undefined;
  respondError(exchange, error, errors, headers);
}

/** Responds with the error of a refusal; rethrows any other error. */
export function respondRefusal(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  if (!(error instanceof LlmRefusal)) throw error;
  exchange.record.reason = reasonOf(error.error);
  // Findings of guards and policies are logged in fields of their own.
  if (error.error.kind !== "filtered") noteError(exchange, error.error);
  respondError(exchange, error.error, errors);
}

/** Responds like `respondRefusal` when no caller handles other errors: responds with 500 to those, then rethrows them. */
export function respondLateRefusal(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  if (!(error instanceof LlmRefusal)) refuse(exchange, 500, "Internal", "internal error");
  respondRefusal(exchange, error, errors);
}

/** Logs the message of an error of the gateway, unless a more specific one is logged. */
function noteError({ record }: Exchange, { message }: LlmError): void {
  const fields = logFields(record);
  if (!fields.has("error")) fields.set("error", message);
}

function reasonOf(error: LlmError): RefusalReason {
  const { kind } = error;
  if (kind === "filtered") return rejectionReason(error);
  return kind === "permission" ? "Authorization" : "BadRequest";
}
