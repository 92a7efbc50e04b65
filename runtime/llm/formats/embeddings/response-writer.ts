import type { JsonObject } from "../../../cel/variables.ts";
import type { EmbeddingsResponse } from "../../chat/embeddings.ts";

/** Writes embeddings as OpenAI does, in the encoding that the client requests. */
export function writeEmbeddingsResponse(
  { vectors, inputTokens = 0 }: EmbeddingsResponse,
  model: string,
  { encoding_format: encoding }: JsonObject,
): string {
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: encoding === "base64" ? base64(vector) : vector,
  }));
  const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens };
  return JSON.stringify({ object: "list", data, model, usage });
}

/** Encodes 32-bit floats in little-endian order. */
function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * 4);
  return bytes.toString("base64");
}
