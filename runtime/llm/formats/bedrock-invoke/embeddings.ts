import type { JsonObject } from "../../../cel/variables.ts";
import { headerValue } from "../../../http/headers/header-list.ts";
import type { EmbeddingsFormat, EmbeddingsRequest } from "../../chat/embeddings.ts";
import { unsupportedField } from "../../chat/request-object.ts";
import { tokenCount } from "../../chat/usage.ts";
import { readConverseError } from "../converse/errors.ts";

/** Embeddings of Bedrock's InvokeModel, in the formats of Amazon Titan and of Cohere. */
export const bedrockInvokeEmbeddings: EmbeddingsFormat = {
  writeRequest: (request) => JSON.stringify(isCohere(request) ? cohere(request) : titan(request)),
  readResponse: ({ embedding, embeddings, inputTextTokenCount: counted }, headers) => ({
    vectors: vectorsOf(embeddings ?? [embedding]),
    inputTokens:
      tokenCount(counted) ??
      tokenCount(Number(headerValue(headers, "x-amzn-bedrock-input-token-count") ?? Number.NaN)),
  }),
  readError: readConverseError,
};

/** Cross-region inference profiles have a prefix: `us.cohere.embed-v4:0`. */
function isCohere({ model }: EmbeddingsRequest): boolean {
  return /(?:^|[./])cohere\./.test(model);
}

function cohere({ inputs, dimensions }: EmbeddingsRequest): JsonObject {
  return {
    texts: inputs,
    // Required by Cohere. OpenAI's format does not distinguish documents from queries.
    input_type: "search_document",
    embedding_types: ["float"],
    output_dimension: dimensions,
  };
}

function titan({ inputs, dimensions }: EmbeddingsRequest): JsonObject {
  const [inputText, ...others] = inputs;
  if (others.length > 0) throw unsupportedField("input", "a list of several texts");
  return { inputText, dimensions };
}

/** Cohere returns embeddings by type when a type is requested. */
function vectorsOf(found: unknown): readonly (readonly number[])[] {
  const list = Array.isArray(found) ? found : isFloats(found) ? found.float : undefined;
  if (!Array.isArray(list) || !list.every(isVector))
    throw new Error("no embeddings in the response");
  return list;
}

function isFloats(value: unknown): value is { readonly float: unknown } {
  return typeof value === "object" && value !== null && "float" in value;
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}
