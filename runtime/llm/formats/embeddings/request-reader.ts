import type { JsonObject } from "../../../cel/variables.ts";
import type { EmbeddingsRequest } from "../../chat/embeddings.ts";
import { checkFields, type FieldTable } from "../../chat/request-fields.ts";
import { RequestObject, wrongField } from "../../chat/request-object.ts";

/** Reads a request of OpenAI's embeddings. Throws LlmRefusal. */
export function readEmbeddingsRequest(body: JsonObject): EmbeddingsRequest {
  const fields = new RequestObject(body);
  checkFields(fields, embeddingsFields);
  fields.choice("encoding_format", ["float", "base64"]);
  const inputs =
    typeof fields.any("input") === "string" ? [fields.text("input")] : fields.texts("input");
  // Lists of tokens mean something to one model alone.
  if (inputs.length === 0) throw wrongField("input", "a text or a list of texts");
  return { model: fields.text("model"), inputs, dimensions: fields.number("dimensions") };
}

/** What is done with each field of the body (OpenAI, CreateEmbeddingRequest). */
export const embeddingsFields: FieldTable = {
  model: "read",
  input: "read",
  dimensions: "read",
  encoding_format: "read",
  user: "dropped",
};
