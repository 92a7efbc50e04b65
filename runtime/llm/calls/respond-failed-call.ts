import { type Exchange, logFields, type RefusalReason } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import type { CallGuards } from "./call-guards.ts";
import { forwardedHeaders } from "./call-headers.ts";
import { respondError } from "./respond-error.ts";
import type { LlmTarget } from "./target.ts";

/** The last attempt, and whom it asked. */
export type FailedAttempt = Extract<AttemptOutcome, { kind: "failed" }> & {
  readonly target: LlmTarget;
};

/** Responds with what the last provider said in the place of a response. Rejects with LlmRefusal when a guard does not let it pass. */
export async function respondFailedCall(
  exchange: Exchange,
  { target, head, error: failure, isSaid }: FailedAttempt,
  { guards, errors }: { readonly guards: CallGuards | undefined; readonly errors: ErrorFormat },
): Promise<void> {
  const error = isSaid && guards ? await guards.errorFor(target, failure) : failure;
  if (exchange.isOver) return;
  exchange.record.reason = error.kind === "timeout" ? "Timeout" : "UpstreamFailure";
  // A provider may repeat in its words what the client said.
  if (!isSaid) noteError(exchange, error);
  respondError(exchange, error, errors, forwardedHeaders(head?.headers ?? [], target.provider));
}

/** Responds with what a request was refused for; throws whatever else it is. */
export function respondRefusal(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  if (!(error instanceof LlmRefusal)) throw error;
  const reason = reasonOf(error.error);
  exchange.record.reason = reason;
  // What guards found stands in fields of its own.
  if (reason !== "PromptGuard") noteError(exchange, error.error);
  respondError(exchange, error.error, errors);
}

/** The same when nobody waits for it who could respond to whatever else it is, which is thrown all the same. */
export function respondLateRefusal(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  if (!(error instanceof LlmRefusal)) refuse(exchange, 500, "Internal", "internal error");
  respondRefusal(exchange, error, errors);
}

/** The log has the message of an error of ours, unless it has a closer one. */
function noteError({ record }: Exchange, { message }: LlmError): void {
  const fields = logFields(record);
  if (!fields.has("error")) fields.set("error", message);
}

function reasonOf({ kind }: LlmError): RefusalReason {
  if (kind === "filtered") return "PromptGuard";
  return kind === "permission" ? "Authorization" : "BadRequest";
}
