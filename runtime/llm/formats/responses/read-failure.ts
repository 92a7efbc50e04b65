import type { LlmError } from "../../chat/llm-error.ts";
import { readCompletionsError } from "../completions/errors.ts";

/** Reads an error of a stream from its code, because it has no status of its own. */
export function readFailure(error: unknown): LlmError {
  const { status: _, ...failure } = readCompletionsError(
    502,
    JSON.stringify({ error: error ?? {} }),
  );
  return failure;
}
