import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts } from "../../chat/formats.ts";
import { tokenCount } from "../../chat/usage.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";

/** Ranking of documents on both sides, as Cohere, Jina, Together and vLLM have it. */
export const rerankNative: NativeFormat = {
  name: "rerank",
  ...completionsErrors,
  reads: { model: true, usage: true, meta: { billed_units: true, tokens: true } },
  readResponse: readFacts,
  unitsOf: ({ documents }) => (Array.isArray(documents) ? { documents: documents.length } : {}),
  watchStream: () => UNWATCHED_STREAM,
  readError: readCompletionsError,
  adapt: () => {},
};

/** Reads `usage` of Jina, Together and vLLM, or `meta` of Cohere. */
function readFacts({ id, model, usage, meta }: JsonObject): ResponseFacts {
  const { billed_units: billed, tokens } = isJsonObject(meta) ? meta : {};
  const searches = isJsonObject(billed) ? tokenCount(billed.search_units) : undefined;
  const input = tokensIn(usage) ?? tokensIn(tokens) ?? tokensIn(billed);
  const none = { cacheRead: 0, cacheWrite: 0, output: 0, reasoning: undefined };
  return {
    id: typeof id === "string" ? id : undefined,
    model: typeof model === "string" ? model : undefined,
    usage: input === undefined ? undefined : { input, ...none },
    ...(searches !== undefined && { units: { searches } }),
  };
}

function tokensIn(usage: unknown): number | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: prompt, input_tokens: input, total_tokens: total } = usage;
  return tokenCount(prompt) ?? tokenCount(input) ?? tokenCount(total);
}
