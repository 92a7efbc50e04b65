import { LlmRefusal } from "../chat/llm-error.ts";

/** Refuses a call for a model that nobody has; undefined: it names none. */
export function unknownModel(model: string | undefined): LlmRefusal {
  if (model === undefined) {
    return new LlmRefusal({ kind: "invalid", message: '"model" is missing', field: "model" });
  }
  const message = `the model "${model}" does not exist`;
  return new LlmRefusal({ kind: "not-found", message, field: "model" });
}
