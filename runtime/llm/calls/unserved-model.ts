import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatService } from "./chat-service.ts";
import { unknownModel } from "./unknown-model.ts";

/** Returns the refusal of a model that does not exist, or whose provider does not have the API. */
export function unserved(
  model: string | undefined,
  { unserved: names = [], operation }: Pick<ChatService, "unserved" | "operation">,
): LlmRefusal {
  if (model === undefined || !names.some((name) => isNamed(model, name)))
    return unknownModel(model);
  const message = `the provider of the model "${model}" has no API for this (${operation})`;
  return new LlmRefusal({ kind: "unsupported", message, field: "model" });
}

/** `name` may have one `*`, at an end. */
function isNamed(model: string, name: string): boolean {
  if (name.endsWith("*")) return model.startsWith(name.slice(0, -1));
  return name.startsWith("*") ? model.endsWith(name.slice(1)) : model === name;
}
