import type { JsonObject } from "../../../cel/variables.ts";
import { type HeaderList, headerValue } from "../../../http/headers/header-list.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { parseObject } from "../parse-object.ts";
import { claudeBetas } from "./claude-betas.ts";
import { modelFamily } from "./model-family.ts";
import { serialChoice } from "./tool-config.ts";

/** What a model takes in its own words; undefined: nothing. `thinking`: tokens. Throws LlmRefusal. */
export function additionalFields(
  request: ChatRequest,
  headers: HeaderList,
  thinking: number | undefined,
): JsonObject | undefined {
  const isThinking = thinking !== undefined;
  const choice = serialChoice(request, isThinking);
  const betas = modelFamily(request.model) === "claude" ? claudeBetas(headers) : [];
  const fields: JsonObject = {
    ...(isThinking && { thinking: { type: "enabled", budget_tokens: thinking } }),
    ...(!isThinking && topK(request)),
    ...(choice && { tool_choice: choice }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function topK({ topK: value, model, features }: ChatRequest): JsonObject {
  if (value === undefined) return {};
  switch (modelFamily(model)) {
    case "claude":
      return { top_k: value };
    case "nova":
      return { inferenceConfig: { topK: value } };
    default: {
      const message = "the model takes no such parameter";
      throw new LlmRefusal({ kind: "unsupported", message, field: features.get("topK") });
    }
  }
}

/** What the client wants noted in Bedrock's log of invocations: texts by name. Throws LlmRefusal for anything else. */
export function requestMetadata(headers: HeaderList): JsonObject | undefined {
  const text = headerValue(headers, "x-bedrock-metadata");
  if (text === undefined) return undefined;
  const fields = parseObject(text);
  if (fields !== undefined && Object.values(fields).every((value) => typeof value === "string")) {
    return fields;
  }
  const message = "the header x-bedrock-metadata must be a JSON object of strings";
  throw new LlmRefusal({ kind: "invalid", message });
}
