import { foldCase } from "../../json/fold-case.ts";
import { isJsonObject } from "../../json/json-object.ts";

/** A model that a request names outside of its own `model`; `undefined` if it cannot be determined. */
export interface OtherModel {
  readonly name: string | undefined;
  /** The field, for the client. */
  readonly field: string;
}

/**
 * Yields the models that a request names besides its own, wherever a server may read one: `models` and `fallbacks`
 * (OpenRouter, LiteLLM), `tools[].model`, `plugins[].models`, and keys that servers match case-insensitively.
 */
export function* otherModels(body: Readonly<Record<string, unknown>>): Generator<OtherModel> {
  for (const [key, value] of Object.entries(body)) {
    // Checked as the call's own model.
    if (key === "model") continue;
    if (namesModel(key) || foldCase(key) === "engine") yield* modelsOf(value, key);
    else if (!CONTENTS.has(key)) yield* modelsInside(value, key);
  }
}

/** Prompts, and shapes of data: a key `model` in them has no meaning for the server. */
const CONTENTS: ReadonlySet<string> = new Set([
  ...["messages", "input", "contents", "system", "prompt", "instructions", "metadata"],
  ...["parameters", "parametersJsonSchema", "input_schema", "inputSchema", "json_schema", "schema"],
  ...["systemInstruction", "system_instruction", "response_schema", "responseSchema"],
]);

/** Endings of keys that name models, ignoring case, `_` and `-`. */
const MODEL_KEY =
  /(?:models?|fallbacks?|models?(?:id|name|uri|list|group)s?|fallbackdict|deployment(?:id|name)?s?)$/;

/** Maximum nesting depth of values that are read. */
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

/** Yields the models in the value of a key that names models: strings, or objects with such keys. */
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
    // `{"gpt-5": ["other"]}`: fallbacks by requested model.
    else for (const each of Object.values(value)) yield* modelsOf(each, field, depth + 1);
  }
}
