import type { FieldTable } from "../../chat/request-fields.ts";

/** Handling of each field of the body (OpenAI, CreateEmbeddingRequest). */
export const embeddingsFields: FieldTable = {
  model: "read",
  input: "read",
  dimensions: "read",
  encoding_format: "read",
  user: "dropped",
};
