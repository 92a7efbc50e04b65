import type { JsonObject } from "../../cel/variables.ts";
import type { LlmError } from "./llm-error.ts";

/** A request for embeddings, independent of formats. */
export interface EmbeddingsRequest {
  /** The provider's name of the model. */
  readonly model: string;
  /** At least one. */
  readonly inputs: readonly string[];
  /** Length of a vector; `undefined` for the model's default. */
  readonly dimensions: number | undefined;
}

/** Embeddings, independent of formats. */
export interface EmbeddingsResponse {
  /** One for each input, in order. */
  readonly vectors: readonly (readonly number[])[];
  /** Tokens of all inputs; `undefined` if the provider does not report them. */
  readonly inputTokens: number | undefined;
}

/** A format of embeddings that providers use and clients do not. */
export interface EmbeddingsFormat {
  /** Returns the JSON body for the provider. Throws LlmRefusal for requests that the provider does not support. */
  writeRequest(request: EmbeddingsRequest): string;
  /** Reads a response; `headers` is a flat list. Throws if it has another shape. */
  readResponse(body: JsonObject, headers: readonly string[]): EmbeddingsResponse;
  /** Reads an error of the provider. */
  readError(status: number, body: string, headers: readonly string[]): LlmError;
}
