import { backendReference, headerName, longText } from "../../manifests/field-types.ts";
import { type RouteType, routeTypes } from "../../model/llm-policies.ts";
import {
  boolean,
  choice,
  integer,
  json,
  list,
  map,
  object,
  type Schema,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import { promptCaching } from "./policies-schema.ts";

const messages = list(
  object(
    {
      role: shortText("Who says it: `SYSTEM`, `USER`, what the provider knows."),
      content: text("What is said."),
    },
    { required: ["role", "content"] },
  ),
);

const defaultFields = list(
  object(
    {
      field: shortText("A key of the request's JSON."),
      value: json,
      override: boolean("Whether it stands in the place of the request's own value."),
    },
    { required: ["field", "value"] },
  ),
  { minItems: 1, maxItems: 64 },
);

const overrideFields = list(
  object(
    { field: shortText("A key of the request's JSON."), value: json },
    { required: ["field", "value"] },
  ),
  { minItems: 1, maxItems: 64 },
);

const regex = object({
  matches: list(longText("A pattern.")),
  builtins: list(
    choice("A pattern by name.", ["Ssn", "CreditCard", "PhoneNumber", "Email", "CaSin"]),
  ),
  action: choice("What happens to a match.", ["Mask", "Reject"], { default: "Mask" }),
});

const webhook = object(
  {
    backendRef: backendReference("The guard."),
    forwardHeaderMatches: list(
      object(
        {
          type: choice("How it is compared.", ["Exact", "RegularExpression"], { default: "Exact" }),
          name: headerName,
          value: text("The value.", { maxLength: 4096 }),
        },
        { required: ["name", "value"] },
      ),
    ),
  },
  { required: ["backendRef"] },
);

const customResponse = object(
  {
    message: { type: "string", default: "The request was rejected due to inappropriate content" },
    statusCode: integer("The status.", 200, 599, { default: 403 }),
  },
  { atLeastOneOf: ["message", "statusCode"] },
);

function promptGuard(simpleBackend: Schema): Schema {
  const moderation = object({ model: { type: "string" }, policies: simpleBackend });
  return object(
    {
      request: list(
        object(
          {
            ...{ regex, webhook, externalModeration: moderation, response: customResponse },
            openAIModeration: { ...moderation, aliasOf: "externalModeration" },
          },
          { exactlyOneOf: ["regex", "webhook", "externalModeration", "openAIModeration"] },
        ),
        { minItems: 1, maxItems: 8 },
      ),
      response: list(
        object(
          { regex, webhook, response: customResponse },
          { exactlyOneOf: ["regex", "webhook"] },
        ),
        { minItems: 1, maxItems: 8 },
      ),
    },
    { atLeastOneOf: ["request", "response"] },
  );
}

/** The parts of `BackendAI` that are read, one by one: policies of several levels replace them apart. */
export const llmFields = {
  prompt: object(
    { prepend: messages, append: messages },
    { description: "Messages that every prompt gets." },
  ),
  defaults: defaultFields,
  overrides: overrideFields,
  modelAliases: map(shortText("The provider's name of the model."), {
    maxProperties: 64,
    propertyNames: MODEL_PATTERN,
  }),
  promptCaching: promptCaching(),
  routes: map(
    choice("How the traffic of the path is treated.", [...routeTypes, "AnthropicTokenCount"]),
  ),
};

/** The route type that a word of manifests means. */
export function namedRouteType(word: RouteType | "AnthropicTokenCount"): RouteType {
  return word === "AnthropicTokenCount" ? "TokenCount" : word;
}

/** `BackendAI`. `simpleBackend`: how a server of a guard is reached. */
export function backendAi(simpleBackend: Schema): Schema {
  const fields = {
    ...llmFields,
    promptGuard: unsupported("prompt guards", promptGuard(simpleBackend)),
  };
  return object(fields, { atLeastOneOf: Object.keys(fields) });
}
