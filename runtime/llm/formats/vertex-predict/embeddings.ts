import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { EmbeddingsFormat } from "../../chat/embeddings.ts";
import { unsupportedField } from "../../chat/request-object.ts";
import { tokenCount } from "../../chat/usage.ts";
import { readGenerateContentError } from "../generate-content/errors.ts";

/** Embeddings of Vertex AI, which are predictions there. */
export const vertexPredictEmbeddings: EmbeddingsFormat = {
  writeRequest: ({ model, inputs, dimensions }) => {
    if (inputs.length > 1 && TAKES_ONE.test(model)) {
      throw unsupportedField("input", "a list of several texts");
    }
    return JSON.stringify({
      instances: inputs.map((content) => ({ content })),
      // A text that is too long is an error, as with OpenAI; it is not truncated.
      parameters: { autoTruncate: false, outputDimensionality: dimensions },
    });
  },
  readResponse: ({ predictions }) => {
    const found = Array.isArray(predictions) ? predictions.map(readPrediction) : [];
    if (found.length === 0) throw new Error("no embeddings in the response");
    const counts = found.map(({ tokens }) => tokens);
    return {
      vectors: found.map(({ vector }) => vector),
      inputTokens: counts.reduce(sum, 0),
    };
  },
  readError: readGenerateContentError,
};

/** Models that embed one text per request. */
const TAKES_ONE = /^gemini-embedding-/;

interface Prediction {
  readonly vector: readonly number[];
  readonly tokens: number | undefined;
}

function readPrediction(prediction: unknown): Prediction {
  const embeddings: JsonObject =
    isJsonObject(prediction) && isJsonObject(prediction.embeddings) ? prediction.embeddings : {};
  const { values, statistics } = embeddings;
  if (!isVector(values)) throw new Error("no embeddings in the response");
  return {
    vector: values,
    tokens: isJsonObject(statistics) ? tokenCount(statistics.token_count) : undefined,
  };
}

/** Returns `undefined` if either is `undefined`. */
function sum(all: number | undefined, one: number | undefined): number | undefined {
  return all === undefined || one === undefined ? undefined : all + one;
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}
