import type { RefusalFormat } from "../../../http/refusal-format.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ErrorFormat } from "../../chat/formats.ts";
import {
  errorStatus,
  isContextLength,
  kindOfStatus,
  type LlmError,
  type LlmErrorKind,
  providerWord,
} from "../../chat/llm-error.ts";
import { llmRefusalFormat } from "../../chat/llm-refusal-format.ts";
import { googleDetails, violatedField } from "../google-error.ts";
import { parseObject } from "../parse-object.ts";

/** Reads an error of Google's APIs (google.rpc.Status). A stream that fails at its start wraps it into a list. */
export function readGenerateContentError(status: number, body: string): LlmError {
  const parsed = parseObject(body.trim().replace(/^\[([\s\S]*)\]$/, "$1"));
  const error = parsed?.error;
  if (!isJsonObject(error)) {
    const message = body.slice(0, 2000) || `status ${status}`;
    return { kind: kindOfStatus(status), message, status };
  }
  const message = typeof error.message === "string" ? error.message : `status ${status}`;
  const details = googleDetails(error);
  // Google reports a wrong key as a bad request.
  if (details.some(({ reason }) => reason === "API_KEY_INVALID")) {
    return { kind: "authentication", message, status: 401 };
  }
  const reason = details.map((detail) => providerWord(detail.reason)).find(isPresent);
  const field = violatedField(details);
  const retryAfter = details.map(({ retryDelay }) => seconds(retryDelay)).find(isPresent);
  return {
    kind: kindOf(status, error.status, message),
    message,
    status,
    code: reason ?? providerWord(error.status),
    ...(field !== undefined && { field }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function kindOf(status: number, word: unknown, message: string): LlmErrorKind {
  switch (word) {
    case "INVALID_ARGUMENT":
    case "FAILED_PRECONDITION":
    case "OUT_OF_RANGE":
      return isContextLength(message) ? "context-length" : "invalid";
    case "UNAUTHENTICATED":
      return "authentication";
    case "PERMISSION_DENIED":
      return "permission";
    case "NOT_FOUND":
      return "not-found";
    case "RESOURCE_EXHAUSTED":
      return "rate-limit";
    case "UNAVAILABLE":
      return "overloaded";
    case "DEADLINE_EXCEEDED":
      return "timeout";
    case "INTERNAL":
      return "server";
    default:
      return kindOfStatus(status);
  }
}

/** Parses a duration in the JSON form of protocol buffers: `34.07s`. */
function seconds(duration: unknown): number | undefined {
  const [, digits] = /^(\d+(?:\.\d+)?)s$/.exec(typeof duration === "string" ? duration : "") ?? [];
  return digits === undefined ? undefined : Math.ceil(Number(digits));
}

function isPresent<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

/** `error.status` of Google's APIs. */
const STATUS_WORDS: { readonly [Kind in LlmErrorKind]: string } = {
  invalid: "INVALID_ARGUMENT",
  unsupported: "INVALID_ARGUMENT",
  "context-length": "INVALID_ARGUMENT",
  authentication: "UNAUTHENTICATED",
  permission: "PERMISSION_DENIED",
  "not-found": "NOT_FOUND",
  "too-large": "INVALID_ARGUMENT",
  "rate-limit": "RESOURCE_EXHAUSTED",
  quota: "RESOURCE_EXHAUSTED",
  overloaded: "UNAVAILABLE",
  server: "INTERNAL",
  timeout: "DEADLINE_EXCEEDED",
  filtered: "INVALID_ARGUMENT",
};

/** Returns the body of an error for Google's clients. */
function generateContentError(error: LlmError): string {
  const { kind, message, field, retryAfter, type, code = type, requestId } = error;
  const details = [
    ...(code === undefined || code === STATUS_WORDS[kind]
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code }]),
    ...(requestId === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId }]),
    ...(field === undefined
      ? []
      : [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field, description: message }],
          },
        ]),
    ...(retryAfter === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfter}s` }]),
  ];
  const status = STATUS_WORDS[kind];
  const known = details.length > 0 && { details };
  return JSON.stringify({ error: { code: errorStatus(error), message, status, ...known } });
}

/** Returns the end of a failed stream. */
export function generateContentErrorEvent(error: LlmError): string {
  return `data: ${generateContentError(error)}\n\n`;
}

/** Writes errors for clients of this format. */
export const generateContentErrors: ErrorFormat = {
  errorBody: generateContentError,
  errorEvent: generateContentErrorEvent,
  requestIdHeader: "x-request-id",
};

/** Writes refusals of policies for clients of this format. */
export const generateContentRefusal: RefusalFormat = llmRefusalFormat(generateContentErrors);
