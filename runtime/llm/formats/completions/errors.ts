import type { RefusalFormat } from "../../../http/refusal-format.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ErrorFormat } from "../../chat/formats.ts";
import {
  errorOfEvent,
  isContextLength,
  kindOfStatus,
  type LlmError,
  type LlmErrorKind,
  providerWord,
} from "../../chat/llm-error.ts";
import { llmRefusalFormat } from "../../chat/llm-refusal-format.ts";
import { googleDetails, isGoogleStatus, violatedField } from "../google-error.ts";
import { parseObject } from "../parse-object.ts";

/** `error.type` and `error.code` of OpenAI's APIs. */
const CODES: { readonly [Kind in LlmErrorKind]: readonly [type: string, code: string | null] } = {
  invalid: ["invalid_request_error", null],
  unsupported: ["invalid_request_error", "unsupported_parameter"],
  "context-length": ["invalid_request_error", "context_length_exceeded"],
  authentication: ["authentication_error", "invalid_api_key"],
  permission: ["permission_error", null],
  "not-found": ["invalid_request_error", "model_not_found"],
  "too-large": ["invalid_request_error", "request_too_large"],
  "rate-limit": ["rate_limit_error", "rate_limit_exceeded"],
  quota: ["insufficient_quota", "insufficient_quota"],
  overloaded: ["server_error", "overloaded"],
  server: ["server_error", null],
  timeout: ["server_error", "timeout"],
  filtered: ["invalid_request_error", "content_policy_violation"],
};

/** Returns the body of an error for OpenAI's clients. */
export function completionsError(error: LlmError): string {
  return JSON.stringify({ error: errorObject(error) });
}

/** Returns an error as OpenAI's APIs write it. A provider of these APIs has words of its own. */
export function errorObject({ kind, message, field, isOfPath = false, ...words }: LlmError) {
  const [type, code] = CODES[kind];
  // For a wrong path, the code for models would mislead.
  const isWrongPath = kind === "not-found" && isOfPath;
  const known = words.type === undefined ? code : null;
  return {
    message,
    type: words.type ?? type,
    param: field ?? null,
    code: isWrongPath ? null : (known ?? words.code ?? null),
  };
}

/**
 * Returns the end of a failed stream. OpenAI's clients throw on `error`, whatever the event's name. An end mark follows if
 * the gateway has ended the stream itself, because then it is complete.
 */
export function completionsErrorEvent(error: LlmError): string {
  const end = error.kind === "filtered" ? "data: [DONE]\n\n" : "";
  return `data: ${completionsError(error)}\n\n${end}`;
}

/** Writes errors for clients of this format. */
export const completionsErrors: ErrorFormat = {
  errorBody: completionsError,
  errorEvent: completionsErrorEvent,
  requestIdHeader: "x-request-id",
};

/** Writes refusals of policies for clients of this format. */
export const completionsRefusal: RefusalFormat = llmRefusalFormat(completionsErrors);

/** Reads an error of a server of this format. Gemini's wraps it into a list. */
export function readCompletionsError(status: number, body: string): LlmError {
  const parsed = parseObject(body.trim().replace(/^\[([\s\S]*)\]$/, "$1"));
  // Some servers write the members of the error into the body itself.
  const isFlat = parsed?.error === undefined && typeof parsed?.message === "string";
  const error = isFlat ? parsed : parsed?.error;
  if (!isJsonObject(error)) {
    const text = typeof error === "string" ? error : body;
    return {
      kind: kindOfStatus(status),
      message: text.slice(0, 2000) || `status ${status}`,
      status,
    };
  }
  const message = typeof error.message === "string" ? error.message : `status ${status}`;
  const kind = kindOf(status, error.code, message);
  if (isGoogleStatus(error)) {
    const field = violatedField(googleDetails(error));
    return { kind, message, status, field, code: providerWord(error.status), isForeign: true };
  }
  const field = typeof error.param === "string" ? error.param : undefined;
  const type = providerWord(error.type);
  const code = providerWord(error.code);
  return { kind, message, status, field, type, code };
}

/** Reads the error of an event in a stream of OpenAI's formats. It has no status of its own, but may have one as its code. */
export function readFailure(error: unknown = {}): LlmError {
  const code = isJsonObject(error) ? Number(error.code) : 0;
  const status = code >= 400 && code < 600 ? code : 502;
  return errorOfEvent(readCompletionsError(status, JSON.stringify({ error })));
}

function kindOf(status: number, code: unknown, message: string): LlmErrorKind {
  switch (code) {
    case "slow_down":
    case "overloaded":
    case "server_is_overloaded":
      return "overloaded";
    case "context_length_exceeded":
      return "context-length";
    case "insufficient_quota":
      return "quota";
    case "rate_limit_exceeded":
      return "rate-limit";
    case "content_filter":
    case "content_policy_violation":
      return "filtered";
    default:
      return status === 400 && isContextLength(message) ? "context-length" : kindOfStatus(status);
  }
}
