import type { RefusalFormat } from "../../http/refusal-format.ts";
import type { ErrorFormat } from "./formats.ts";
import { kindOfStatus } from "./llm-error.ts";

/** Writes refusals of policies before an LLM backend in the client's format. */
export function llmRefusalFormat({ errorBody }: ErrorFormat): RefusalFormat {
  return {
    protocol: "llm",
    contentType: "application/json",
    body: (status, message) =>
      errorBody({ kind: kindOfStatus(status), message, status, isOfPath: true }),
  };
}
