import type { ErrorFormat } from "../../chat/formats.ts";
import type { LlmError } from "../../chat/llm-error.ts";
import { completionsError, errorObject } from "../completions/errors.ts";
import { newId, responseObject } from "./response-object.ts";

/** Writes errors for clients of the Responses API: bodies are those of chat completions. */
export const responsesErrors: ErrorFormat = {
  requestIdHeader: "x-request-id",
  errorBody: completionsError,
  errorEvent: (error, sent) => {
    const { id = newId("resp"), model = "" } = sent.facts;
    const createdAt = Math.floor(Date.now() / 1000);
    const end = { kind: "failed", ...failure(error) } as const;
    const response = responseObject({ body: {}, model }, { id, createdAt, model, output: [], end });
    return failureEvents(error, response, sent.events);
  },
};

/** Returns `error` of a failed response: codes of the Responses API, and those that clients know from error bodies. */
export function failure(error: LlmError): { readonly code: string; readonly message: string } {
  return { code: failureCode(error), message: error.message };
}

function failureCode(error: LlmError): string {
  switch (error.kind) {
    case "rate-limit":
    case "quota":
    case "context-length":
      return errorObject(error).code ?? "server_error";
    case "invalid":
    case "unsupported":
    case "too-large":
    case "filtered":
      return "invalid_prompt";
    default:
      return "server_error";
  }
}

/**
 * Returns the end of a failed stream, as OpenAI writes it. Clients recognize `error`, or the failed response. `sequence`:
 * number of the next event.
 */
export function failureEvents(error: LlmError, response: object, sequence: number): string {
  const object = errorObject(error);
  const { code, message, param } = object;
  const first = {
    type: "error",
    sequence_number: sequence,
    code,
    message,
    param,
    // SDKs throw on it.
    error: object,
  };
  const second = { type: "response.failed", sequence_number: sequence + 1, response };
  return eventText("error", JSON.stringify(first)) + eventText(second.type, JSON.stringify(second));
}

/** Returns one event of a stream. */
export function eventText(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
