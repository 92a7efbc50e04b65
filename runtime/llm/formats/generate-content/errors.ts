import {
  isContextLength,
  kindOfStatus,
  type LlmError,
  type LlmErrorKind,
  providerWord,
} from "../../chat/llm-error.ts";
import { isJsonObject } from "../../chat/request-object.ts";
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
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  // Google reports a wrong key as a bad request.
  if (details.some(({ reason }) => reason === "API_KEY_INVALID")) {
    return { kind: "authentication", message, status: 401 };
  }
  const retryAfter = details.map(({ retryDelay }) => seconds(retryDelay)).find(isNumber);
  return {
    kind: kindOf(status, error.status, message),
    message,
    status,
    code: providerWord(error.status),
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

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}
