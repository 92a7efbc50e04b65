import type { RefusalFormat } from "../../../http/refusal-format.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ErrorFormat } from "../../chat/formats.ts";
import {
  isContextLength,
  kindOfStatus,
  type LlmError,
  type LlmErrorKind,
  providerWord,
} from "../../chat/llm-error.ts";
import { llmRefusalFormat } from "../../chat/llm-refusal-format.ts";
import { parseObject } from "../parse-object.ts";

/** `error.type` of the Messages API. */
const TYPES: { readonly [Kind in LlmErrorKind]: string } = {
  invalid: "invalid_request_error",
  unsupported: "invalid_request_error",
  "context-length": "invalid_request_error",
  authentication: "authentication_error",
  permission: "permission_error",
  "not-found": "not_found_error",
  "too-large": "request_too_large",
  "rate-limit": "rate_limit_error",
  quota: "billing_error",
  overloaded: "overloaded_error",
  server: "api_error",
  timeout: "timeout_error",
  filtered: "invalid_request_error",
};

/** Returns the body of an error for Anthropic's clients. */
function messagesError({ kind, message, field, type, code = type, requestId }: LlmError): string {
  return JSON.stringify({
    type: "error",
    error: { type: TYPES[kind], message: worded(kind, message), code, param: field },
    request_id: requestId ?? null,
  });
}

/** Clients recognize a prompt that is too long by these words. */
function worded(kind: LlmErrorKind, message: string): string {
  const isKnown = kind !== "context-length" || message.includes("prompt is too long");
  return isKnown ? message : `prompt is too long: ${message}`;
}

/**
 * Returns the end of a failed stream. Anthropic's clients only recognize errors in events of this name. An end mark follows
 * if the gateway has ended the stream itself, because then it is complete.
 */
export function messagesErrorEvent(error: LlmError): string {
  const end =
    error.kind === "filtered" ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n' : "";
  return `event: error\ndata: ${messagesError(error)}\n\n${end}`;
}

/** Writes errors for clients of this format. */
export const messagesErrors: ErrorFormat = {
  errorBody: messagesError,
  errorEvent: messagesErrorEvent,
  requestIdHeader: "request-id",
  statuses: { overloaded: 529, quota: 402 },
};

/** Writes refusals of policies for clients of this format. */
export const messagesRefusal: RefusalFormat = llmRefusalFormat(messagesErrors);

/** Reads an error of a server of this format. */
export function readMessagesError(status: number, body: string): LlmError {
  const error = parseObject(body)?.error;
  if (!isJsonObject(error)) {
    return {
      kind: kindOfStatus(status),
      message: body.slice(0, 2000) || `status ${status}`,
      status,
    };
  }
  const message = typeof error.message === "string" ? error.message : `status ${status}`;
  return {
    kind: kindOf(status, error.type, message),
    message,
    status,
    code: providerWord(error.type),
  };
}

function kindOf(status: number, type: unknown, message: string): LlmErrorKind {
  if (isContextLength(message)) return "context-length";
  switch (type) {
    case "overloaded_error":
      return "overloaded";
    case "rate_limit_error":
      return "rate-limit";
    case "invalid_request_error":
      return "invalid";
    case "timeout_error":
      return "timeout";
    case "api_error":
      return "server";
    case "billing_error":
      return "quota";
    default:
      return kindOfStatus(status);
  }
}
