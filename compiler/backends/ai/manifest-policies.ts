import type { PolicyFields } from "../../manifests/policy.ts";
import type { Json } from "../../model/json.ts";
import { ROUTE_TYPES, type RouteType } from "../../model/llm-policies.ts";
import {
  boolean,
  choice,
  expression,
  json,
  list,
  map,
  object,
  type Schema,
  shortText,
  text,
} from "../../schema/schema.ts";
import { promptGuard } from "./guard-manifest-form.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import { promptCaching } from "./policies-schema.ts";

const messages = (description: string) =>
  list(
    object(
      {
        role: shortText(
          "Role of the message: `SYSTEM`, `USER`, or another one that the provider knows.",
        ),
        content: text("Content of the message."),
      },
      { required: ["role", "content"] },
    ),
    { description },
  );

const defaultFields = list(
  object(
    {
      field: shortText("Key in the request's JSON."),
      value: described("Value if the request does not have the field."),
      override: boolean("Whether to override the request's own value."),
    },
    { required: ["field", "value"] },
  ),
  {
    minItems: 1,
    maxItems: 64,
    description: "Values of fields that the request's JSON does not have.",
  },
);

const overrideFields = list(
  object(
    {
      field: shortText("Key in the request's JSON."),
      value: described("Value of the field."),
    },
    { required: ["field", "value"] },
  ),
  {
    minItems: 1,
    maxItems: 64,
    description: "Values of fields that override those of the request's JSON.",
  },
);

const transformedFields = list(
  object(
    {
      field: shortText("Key in the request's JSON."),
      expression: expression("CEL expression for the value."),
    },
    { required: ["field", "expression"] },
  ),
  {
    minItems: 1,
    maxItems: 64,
    description:
      "Fields of the request's JSON computed by CEL expressions, which read `llmRequest`. If one fails, its field is removed.",
  },
);

function described(description: string): Schema<Json> {
  return { ...json, description };
}

/** Parts of `BackendAI`, each of which a policy of another level replaces separately. */
export const llmFields = {
  prompt: object(
    {
      prepend: messages("Messages added before those of the request."),
      append: messages("Messages added after those of the request."),
    },
    { description: "Messages added to every prompt." },
  ),
  defaults: defaultFields,
  overrides: overrideFields,
  transformations: transformedFields,
  modelAliases: map(shortText("The provider's name of the model."), {
    maxProperties: 64,
    propertyNames: MODEL_PATTERN,
    description:
      "Names of models that clients can use, each with the provider's name of the model.",
  }),
  promptCaching: promptCaching(),
  routes: map(choice("Type of traffic on the path.", [...ROUTE_TYPES, "AnthropicTokenCount"]), {
    description: "Type of traffic by suffix of the path.",
  }),
};

/** Returns the route type for its name in manifests. */
export function namedRouteType(word: RouteType | "AnthropicTokenCount"): RouteType {
  return word === "AnthropicTokenCount" ? "TokenCount" : word;
}

/** Returns the schema of `BackendAI`; `simpleBackend` is that of the connection to a guard's server. */
export function backendAi(simpleBackend: Schema<PolicyFields>): Schema {
  const fields = { ...llmFields, promptGuard: promptGuard(simpleBackend) };
  return object(fields, {
    atLeastOneOf: Object.keys(fields),
    description: "Policies for requests to LLMs.",
  });
}
