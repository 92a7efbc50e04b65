import { type HeaderList, headerValue } from "../../../http/headers/header-list.ts";
import type { RefusalFormat } from "../../../http/refusal-format.ts";
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
import { converseEvent, converseFraming } from "./stream-framing.ts";

/** Reads an error of Bedrock: the body has a message, a header the name of the exception. */
export function readConverseError(status: number, body: string, headers: HeaderList): LlmError {
  const fields = parseObject(body);
  // `ValidationException:http://internal.amazon.com/...`
  const [name = ""] = (headerValue(headers, "x-amzn-errortype") ?? "").split(":");
  const text = fields?.message ?? fields?.Message;
  const message = typeof text === "string" && text !== "" ? text : name || `status ${status}`;
  const kind = kindOfException(name, status, message);
  // Bedrock's message contains the gateway's account and role.
  if (kind === "permission") return { kind, message: "access to the model is denied", status };
  return { kind, message, status, code: providerWord(name) };
}

/** Returns the kind of an exception (AWS, Converse: Errors); by status if its name is unknown. */
export function kindOfException(name: string, status: number, message: string): LlmErrorKind {
  switch (name.replace(/Exception$/, "").toLowerCase()) {
    case "validation":
      return isContextLength(message) ? "context-length" : "invalid";
    case "unrecognizedclient":
    case "invalidsignature":
    case "expiredtoken":
    case "incompletesignature":
      return "authentication";
    case "accessdenied":
      return "permission";
    case "resourcenotfound":
      return "not-found";
    case "throttling":
    case "modelnotready":
      return "rate-limit";
    case "servicequotaexceeded":
      return "quota";
    case "serviceunavailable":
      return "overloaded";
    case "modeltimeout":
      return "timeout";
    case "modelerror":
    case "modelstreamerror":
    case "internalserver":
      return "server";
    default:
      return isContextLength(message) ? "context-length" : kindOfStatus(status);
  }
}

/** Exceptions of Converse by kind of error. */
const EXCEPTIONS: { readonly [Kind in LlmErrorKind]: string } = {
  invalid: "ValidationException",
  unsupported: "ValidationException",
  "context-length": "ValidationException",
  authentication: "UnrecognizedClientException",
  permission: "AccessDeniedException",
  "not-found": "ResourceNotFoundException",
  "too-large": "ValidationException",
  "rate-limit": "ThrottlingException",
  quota: "ServiceQuotaExceededException",
  overloaded: "ServiceUnavailableException",
  server: "InternalServerException",
  timeout: "ModelTimeoutException",
  filtered: "ValidationException",
};

/** Exceptions that a stream may end with; others become the one of a failed model. */
const OF_STREAMS: ReadonlySet<string> = new Set([
  ...["internalServerException", "modelStreamErrorException", "serviceUnavailableException"],
  ...["throttlingException", "validationException"],
]);

/**
 * Returns the body of an error. Its name is in the body, because refusals of policies have no header of a format. SDKs of AWS
 * take `code` for the name, so the provider's code has another one.
 */
function converseError({ kind, message, field = "", type, code = type }: LlmError): string {
  const named = message.includes(`"${field}"`) || field === "" ? message : `"${field}": ${message}`;
  return JSON.stringify({ __type: EXCEPTIONS[kind], message: named, providerCode: code });
}

/** Returns the end of a failed stream. */
export function converseErrorEvent({ kind, message }: LlmError): string {
  const name = EXCEPTIONS[kind];
  const own = name.charAt(0).toLowerCase() + name.slice(1);
  return converseEvent(OF_STREAMS.has(own) ? own : "modelStreamErrorException", { message });
}

/** Writes errors for clients of this format. */
export const converseErrors: ErrorFormat = {
  errorBody: converseError,
  errorEvent: converseErrorEvent,
  requestIdHeader: "x-amzn-requestid",
  statuses: { quota: 400, timeout: 408 },
  framing: converseFraming,
};

/** Writes refusals of policies for clients of this format. */
export const converseRefusal: RefusalFormat = llmRefusalFormat(converseErrors);
