import { backendReference, headerName, longText } from "../../../manifests/field-types.ts";
import {
  boolean,
  choice,
  integer,
  list,
  map,
  object,
  type Schema,
  shortText,
  text,
} from "../../../schema/schema.ts";
import { simpleBackend } from "./connection.ts";

const messages = list(
  object(
    {
      role: { type: "string", description: "`SYSTEM`, `USER`: what the provider knows." },
      content: { type: "string", description: "The text." },
    },
    { required: ["role", "content"] },
  ),
);

const fieldValues = list(
  object(
    { field: shortText("A key of the request's JSON."), value: {}, override: boolean("Obsolete.") },
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

const moderation = object({
  model: { type: "string" },
  policies: simpleBackend,
});

const promptGuard = object(
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
      object({ regex, webhook, response: customResponse }, { exactlyOneOf: ["regex", "webhook"] }),
      { minItems: 1, maxItems: 8 },
    ),
  },
  { atLeastOneOf: ["request", "response"] },
);

const promptCaching = object({
  cacheSystem: boolean("Whether system prompts are cached.", { default: true }),
  cacheMessages: boolean("Whether messages are cached.", { default: true }),
  cacheTools: boolean("Whether tools are cached.", { default: false }),
  minTokens: integer("From how many tokens on.", 0, Number.MAX_SAFE_INTEGER, { default: 1024 }),
});

/** `BackendAI`. */
export const aiFields = {
  prompt: object({ prepend: messages, append: messages }),
  promptGuard,
  defaults: fieldValues,
  overrides: fieldValues,
  modelAliases: map({ type: "string" }, { maxProperties: 64 }),
  promptCaching,
  routes: map(
    choice("How the traffic of the path is treated.", [
      ...["Completions", "Messages", "Models", "Passthrough"],
      ...["Responses", "TokenCount", "AnthropicTokenCount", "Embeddings", "Realtime"],
    ]),
  ),
};

const providerFields = {
  openai: object({ model: shortText("The model.") }),
  azureopenai: object(
    {
      endpoint: shortText("The endpoint's host."),
      deploymentName: shortText("The deployment."),
      apiVersion: text("The API's version.", { maxLength: 64, default: "v1" }),
    },
    {
      required: ["endpoint"],
      checks: [
        {
          message: 'every apiVersion but v1 needs a "deploymentName"',
          holds: ({ apiVersion = "v1", deploymentName }) =>
            apiVersion === "v1" || deploymentName !== undefined,
          cel: "!has(self.apiVersion) || self.apiVersion == 'v1' || has(self.deploymentName)",
        },
      ],
    },
  ),
  anthropic: object({ model: shortText("The model.") }),
  gemini: object({ model: shortText("The model.") }),
  vertexai: object(
    {
      model: shortText("The model."),
      projectId: text("The project.", { maxLength: 64 }),
      region: text("The region.", { maxLength: 64 }),
    },
    { required: ["projectId", "region"] },
  ),
  bedrock: object({
    region: text("The region.", {
      maxLength: 63,
      pattern: "^[a-z0-9-]+$",
      default: "us-east-1",
    }),
    model: shortText("The model."),
    guardrail: object(
      { identifier: shortText("Its identifier."), version: shortText("Its version.") },
      { required: ["identifier", "version"] },
    ),
  }),
};

/** The specification's neutral names of the providers, in its order. */
const neutralFields: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(providerFields).map(([name, schema], index) => [
    `llmProvider${index + 1}`,
    { ...schema, aliasOf: name },
  ]),
);

/** The provider keys in every spelling; exactly one of them. */
export const PROVIDERS = [...Object.keys(providerFields), ...Object.keys(neutralFields)];

/** The fields of an `LLMProvider`. */
export const llmProviderFields = {
  ...providerFields,
  ...neutralFields,
  host: shortText("The host; the provider's own when unset."),
  port: integer("The port.", 1, 65535),
  path: longText("The path; the provider's own when unset."),
};
