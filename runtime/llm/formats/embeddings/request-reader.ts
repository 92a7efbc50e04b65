import type { JsonObject } from "../../../cel/variables.ts";
import type { EmbeddingsRequest } from "../../chat/embeddings.ts";
import { checkFields } from "../../chat/request-fields.ts";
import { RequestObject, wrongField } from "../../chat/request-object.ts";
import { embeddingsFields } from "./request-fields.ts";

/** Reads a request of OpenAI's embeddings. Throws LlmRefusal. */
export function readEmbeddingsRequest(body: JsonObject): EmbeddingsRequest {
  const fields = new RequestObject(body);
  checkFields(fields, embeddingsFields);
  fields.choice("encoding_format", ["float", "base64"]);
  const inputs =
    typeof fields.any("input") === "string" ? [fields.text("input")] : fields.texts("input");
  // Lists of tokens are specific to one model.
  if (inputs.length === 0) throw wrongField("input", "a string or a list of strings");
  return { model: fields.text("model"), inputs, dimensions: fields.number("dimensions") };
}
