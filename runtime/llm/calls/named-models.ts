import { foldCase } from "../../json/fold-case.ts";
import { isJsonObject } from "../chat/request-object.ts";

/** A model that a request names in another place than its own `model`; `undefined`: nobody can say which one. */
export interface OtherModel {
  readonly name: string | undefined;
  /** The field, for the client. */
  readonly field: string;
}

/**
 * The models that a request names besides its own, wherever a server may take one from: `models` and `fallbacks` (OpenRouter,
 * LiteLLM), `tools[].model`, `plugins[].models`, and keys that servers read without regard to case.
 */
export function* otherModels(body: Readonly<Record<string, unknown>>): Generator<OtherModel> {
  for (const [key, value] of Object.entries(body)) {
    // Checked as the call's own.
    if (key === "model") continue;
    if (namesModel(key) || foldCase(key) === "engine") yield* modelsOf(value, key);
    else if (!CONTENTS.has(key)) yield* modelsInside(value, key);
  }
}

/** What a request says to a model, and shapes of data: a key `model` in it is anybody's word. */
const CONTENTS: ReadonlySet<string> = new Set([
  ...["messages", "input", "contents", "system", "prompt", "instructions", "metadata"],
  ...["parameters", "parametersJsonSchema", "input_schema", "inputSchema", "json_schema", "schema"],
  ...["systemInstruction", "system_instruction", "response_schema", "responseSchema"],
]);

/** How a key ends that names a model or several, without regard to case, `_` and `-`. */
const MODEL_KEY =
  /(?:models?|fallbacks?|models?(?:id|name|uri|list|group)s?|fallbackdict|deployment(?:id|name)?s?)$/;

/** The most values in one another that are read. */
const MAX_DEPTH = 64;

function namesModel(key: string): boolean {
  return MODEL_KEY.test(foldCase(key).replace(/[_-]/g, ""));
}

function* modelsInside(value: unknown, field: string, depth = 0): Generator<OtherModel> {
  if (depth > MAX_DEPTH) yield { name: undefined, field };
  else if (Array.isArray(value)) {
    for (const each of value) yield* modelsInside(each, field, depth + 1);
  } else if (isJsonObject(value)) {
    for (const [key, each] of Object.entries(value)) {
      if (namesModel(key)) yield* modelsOf(each, `${field}.${key}`, depth + 1);
      else if (!CONTENTS.has(key)) yield* modelsInside(each, field, depth + 1);
    }
  }
}

/** The value of a key that names models: names, or objects that have them. */
function* modelsOf(value: unknown, field: string, depth = 0): Generator<OtherModel> {
  if (depth > MAX_DEPTH) yield { name: undefined, field };
  else if (typeof value === "string") yield { name: value, field };
  else if (Array.isArray(value)) {
    for (const each of value) {
      if (typeof each === "string" || isJsonObject(each)) yield* modelsOf(each, field, depth + 1);
      else yield { name: undefined, field };
    }
  } else if (isJsonObject(value)) {
    const keys = Object.keys(value);
    if (keys.length === 0) yield { name: undefined, field };
    else if (keys.some(namesModel)) yield* modelsInside(value, field, depth + 1);
    // `{"gpt-5": ["other"]}`: by the model that is asked first.
    else for (const each of Object.values(value)) yield* modelsOf(each, field, depth + 1);
  }
}
