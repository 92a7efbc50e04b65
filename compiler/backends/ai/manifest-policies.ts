import type { Json } from "../../model/json.ts";
import {
  boolean,
  choice,
  expression,
  inPhase,
  json,
  list,
  map,
  object,
  type Schema,
  shortText,
} from "../../schema/schema.ts";
import { promptGuard } from "./guard-manifest-form.ts";
import {
  addedMessages,
  modelAliases,
  PROMPTS,
  promptCaching,
  REQUEST_FIELDS,
  ROUTE_WORDS,
  unsupportedSchema,
} from "./policies-schema.ts";
import { responseCacheSchema } from "./response-cache.ts";

const field = shortText("Key in the request's JSON.");

const computedField = object(
  { field, expression: inPhase("llm", expression("CEL expression for the value.")) },
  { required: ["field", "expression"] },
);

/** Lists of the request fields that the configuration sets. */
const requestFieldLists = {
  defaults: fieldList(
    object(
      {
        field,
        value: described("Value if the request does not have the field."),
        override: boolean("Whether to override the request's own value."),
      },
      { required: ["field", "value"] },
    ),
    REQUEST_FIELDS.defaults,
  ),
  overrides: fieldList(
    object({ field, value: described("Value of the field.") }, { required: ["field", "value"] }),
    REQUEST_FIELDS.overrides,
  ),
  transformations: fieldList(computedField, REQUEST_FIELDS.transformations),
  finalTransformations: fieldList(computedField, REQUEST_FIELDS.finalTransformations),
};

function fieldList<Value>(item: Schema<Value>, description: string) {
  return list(item, { minItems: 1, maxItems: 64, description });
}

function described(description: string): Schema<Json> {
  return { ...json, description };
}

/** Parts of `BackendAI`, each of which a policy of another level replaces separately. */
export const llmFields = {
  prompt: object(addedMessages("manifest", {}), { description: PROMPTS }),
  ...requestFieldLists,
  modelAliases,
  promptCaching: promptCaching(),
  cache: responseCacheSchema.manifest,
  unsupported: unsupportedSchema,
  routes: map(choice("Type of traffic on the path.", ROUTE_WORDS), {
    description: "Type of traffic by suffix of the path.",
  }),
};

const aiFields = { ...llmFields, promptGuard };

/** Schema of `BackendAI`. */
export const backendAi: Schema = object(aiFields, {
  atLeastOneOf: Object.keys(aiFields),
  description: "Policies for requests to LLMs.",
});
