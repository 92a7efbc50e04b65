import { LlmRefusal } from "../chat/llm-error.ts";

/** Returns the refusal of a model that does not exist; `undefined` if the request names no model. */
export function unknownModel(model: string | undefined): LlmRefusal {
  if (model === undefined) {
    return new LlmRefusal({ kind: "invalid", message: '"model" is missing', field: "model" });
  }
  const message = `the model "${model}" does not exist`;
  return new LlmRefusal({ kind: "not-found", message, field: "model" });
}
