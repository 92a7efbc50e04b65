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
        role: shortText("Who says it: `SYSTEM`, `USER`, what the provider knows."),
        content: text("What is said."),
      },
      { required: ["role", "content"] },
    ),
    { description },
  );

const defaultFields = list(
  object(
    {
      field: shortText("A key of the request's JSON."),
      value: described("What it is where the request does not say it."),
      override: boolean("Whether it stands in the place of the request's own value."),
    },
    { required: ["field", "value"] },
  ),
  { minItems: 1, maxItems: 64, description: "What requests say unless they say it themselves." },
);

const overrideFields = list(
  object(
    {
      field: shortText("A key of the request's JSON."),
      value: described("What it is, whatever the request says."),
    },
    { required: ["field", "value"] },
  ),
  { minItems: 1, maxItems: 64, description: "What requests say in the place of their own." },
);

const transformedFields = list(
  object(
    {
      field: shortText("A key of the request's JSON."),
      expression: expression("A CEL expression: the value."),
    },
    { required: ["field", "expression"] },
  ),
  {
    minItems: 1,
    maxItems: 64,
    description:
      "What expressions make of fields of requests: they read `llmRequest`. One that fails takes its field away.",
  },
);

function described(description: string): Schema<Json> {
  return { ...json, description };
}

/** The parts of `BackendAI` that are read, one by one: policies of several levels replace them apart. */
export const llmFields = {
  prompt: object(
    {
      prepend: messages("Messages before those of the request."),
      append: messages("Messages after those of the request."),
    },
    { description: "Messages that every prompt gets." },
  ),
  defaults: defaultFields,
  overrides: overrideFields,
  transformations: transformedFields,
  modelAliases: map(shortText("The provider's name of the model."), {
    maxProperties: 64,
    propertyNames: MODEL_PATTERN,
    description: "Names of models as clients use them, and what each stands for.",
  }),
  promptCaching: promptCaching(),
  routes: map(
    choice("How the traffic of the path is treated.", [...ROUTE_TYPES, "AnthropicTokenCount"]),
    { description: "Ends of paths, and what kind of traffic each carries." },
  ),
};

/** The route type that a word of manifests means. */
export function namedRouteType(word: RouteType | "AnthropicTokenCount"): RouteType {
  return word === "AnthropicTokenCount" ? "TokenCount" : word;
}

/** `BackendAI`. `simpleBackend`: how a server of a guard is reached. */
export function backendAi(simpleBackend: Schema<PolicyFields>): Schema {
  const fields = { ...llmFields, promptGuard: promptGuard(simpleBackend) };
  return object(fields, {
    atLeastOneOf: Object.keys(fields),
    description: "What is done with requests to models.",
  });
}
