import type { JsonObject } from "../../cel/variables.ts";
import type { LlmError } from "./llm-error.ts";

/** A request for embeddings, whatever format it came in. */
export interface EmbeddingsRequest {
  /** As the provider knows it. */
  readonly model: string;
  /** At least one. */
  readonly inputs: readonly string[];
  /** Numbers of a vector; undefined: as many as the model has. */
  readonly dimensions: number | undefined;
}

/** Embeddings, whatever format they came in. */
export interface EmbeddingsResponse {
  /** One for each input, in order. */
  readonly vectors: readonly (readonly number[])[];
  /** Tokens of all inputs; undefined: the provider does not say. */
  readonly inputTokens: number | undefined;
}

/** A format of embeddings that a provider speaks, and clients do not. */
export interface EmbeddingsFormat {
  /** The JSON body for the provider. Throws LlmRefusal when the provider cannot be asked for that. */
  writeRequest(request: EmbeddingsRequest): string;
  /** Reads a response; `headers` is a flat list. Throws when it has another shape. */
  readResponse(body: JsonObject, headers: readonly string[]): EmbeddingsResponse;
  /** What the provider says went wrong. */
  readError(status: number, body: string, headers: readonly string[]): LlmError;
}
