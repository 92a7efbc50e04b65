import { hintFor } from "../../schema/hint-for.ts";
import {
  choice,
  either,
  type Infer,
  object,
  shortText,
  text,
  type ValueCheck,
} from "../../schema/schema.ts";
import { eitherField } from "../../schema/value-checks.ts";
import { connectionSchemas } from "../parts/connection-schema.ts";
import { headerChangesSchema } from "../parts/header-changes.ts";
import { healthSchema } from "../parts/health.ts";
import { credentialSchema } from "../parts/sent-credentials.ts";
import { tunnelSchema } from "../parts/tunnel.ts";
import { promptGuardSchema } from "./guard-file-form.ts";
import { modelAuthorizationSchema, modelMatchesSchema } from "./model-conditions.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import {
  finalTransformationsSchema,
  promptCaching,
  requestFieldMaps,
  transformationsSchema,
  unsupportedSchema,
} from "./policies-schema.ts";
import { PROVIDER_WORD } from "./provider-fields.ts";
import {
  azureProjectNameSchema,
  azureResourceNameSchema,
  azureResourceTypeSchema,
} from "./providers/azureopenai.ts";
import { customSchema } from "./providers/custom.ts";
import { providers } from "./providers/index.ts";
import { apiField, CHAT_APIS } from "./providers/openai-apis.ts";
import { presets } from "./providers/presets.ts";
import type { OwnParam } from "./providers/provider.ts";
import { responseCacheSchema } from "./response-cache.ts";
import { oneServer, providerServerFields } from "./server-fields.ts";
import { tokenize } from "./tokenize.ts";

/** A model of the `llm` section, as validated by its schema. */
export type LlmModelValue = Infer<ReturnType<typeof modelSchema>>;

/** A shared provider of the `llm` section, as validated by its schema. */
export type LlmProviderValue = Infer<ReturnType<typeof sharedProviderSchema>>;

/** Returns the schema of a model of the `llm` section. */
export function modelSchema() {
  return object(
    {
      name: shortText(
        "Name that clients use, exact or with one `*` at its start or end. Entries with the same name share its requests.",
        { ...MODEL_PATTERN, declares: "model" },
      ),
      id: shortText(
        "Name of this entry in logs, in metrics and in the header with the provider's name; `name` by default.",
      ),
      provider: either(
        providerWord(PROVIDER_WORD),
        object(
          {
            reference: shortText("Name of one of `llm.providers`.", { refersTo: ["provider"] }),
            custom: customSchema,
          },
          { exactlyOneOf: ["reference", "custom"] },
        ),
      ),
      visibility: choice(
        "Whether clients can request the model (`public`), or only virtual models use it (`internal`).",
        ["public", "internal"],
        { default: "public" },
      ),
      params: paramsSchema(),
      ...upstreamPolicies(),
      guardrails: promptGuardSchema(),
      matches: modelMatchesSchema,
      authorization: modelAuthorizationSchema,
      passthrough: choice(
        "Also forwards requests to other paths than those of known APIs, unread and unchanged, to this model's provider. The model is taken from the path or the JSON body. `detect` has the same effect; neither counts tokens.",
        ["opaque", "detect"],
      ),
    },
    {
      required: ["name", "provider"],
      examples: [
        {
          name: "fast",
          provider: "openAI",
          params: { model: "gpt-5-mini", apiKey: "${OPENAI_API_KEY}" },
        },
        { name: "ollama/*", provider: "ollama" },
      ],
      hasParts: true,
      misplacedFieldHints: HINTS,
      checks: [
        ...providers.flatMap(paramChecks),
        ...[eitherField("backendTLS", "tls"), oneCredential, onlyModelOfReference, apiOfServer],
      ],
    },
  );
}

/** Returns the schema of a provider that models of the `llm` section share. */
export function sharedProviderSchema() {
  return object(
    {
      name: shortText("Name that models refer to: provider: { reference: NAME }.", {
        declares: "provider",
      }),
      provider: either(
        providerWord("The provider, or the name of a known server."),
        object(
          { custom: customSchema },
          {
            required: ["custom"],
            misplacedFieldHints: {
              reference: "a provider cannot refer to another one: repeat its fields",
            },
          },
        ),
      ),
      params: paramsSchema(),
      defaults: object(upstreamPolicies(), {
        checks: [eitherField("backendTLS", "tls")],
        description:
          "Policies of its models. A model's own ones replace them; `defaults`, `overrides`, `transformation` and `finalTransformation` are merged field by field. A `transformation` of `model` applies to models without `params.model`.",
      }),
    },
    {
      required: ["name", "provider"],
      hasParts: true,
      misplacedFieldHints: HINTS,
      checks: [...providers.flatMap(paramChecks), oneSharedCredential, apiOfServer],
    },
  );
}

function providerWord(description: string) {
  const kinds = providers
    .filter(({ kind }) => kind !== "custom")
    .flatMap(({ kind, fileKeys }) => [kind, ...fileKeys]);
  return choice(description, [...kinds, ...Object.keys(presets)]);
}

/** Returns the schemas of the policies of requests to a provider. */
function upstreamPolicies() {
  const { backendTLS, backendAuth } = connectionSchemas();
  return {
    ...requestFieldMaps,
    transformation: transformationsSchema,
    finalTransformation: finalTransformationsSchema,
    requestHeaders: headerChangesSchema("Changes to the headers of requests to this model only."),
    responseHeaders: headerChangesSchema("Changes to the headers of this model's responses."),
    promptCaching: promptCaching(),
    cache: responseCacheSchema.file,
    unsupported: unsupportedSchema,
    health: healthSchema(),
    backendTLS,
    tls: { ...backendTLS, aliasOf: "backendTLS" },
    auth: {
      ...backendAuth,
      description: "Credential that the gateway sends to the provider, instead of `params.apiKey`.",
    },
    backendTunnel: tunnelSchema(),
  };
}

/** Hint for models that are combined by failover or by weight. */
export const SHARED_NAME = "combine several models under one name in `llm.virtualModels`";

const REQUEST_FIELDS = hintFor(
  "set request fields with `defaults` (if the client omits them) or `overrides` of the model",
  [
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "stop",
    "reasoning_effort",
  ],
);

const ANOTHER_SERVER = hintFor(
  "for another server with the provider's API, write params: { baseUrl: URL }",
  ["baseUrl", "apiBase", "api_base", "base_url", "url", "endpoint", "host", "hostOverride"],
);

const HINTS = {
  ...{ fallback: SHARED_NAME, fallbacks: SHARED_NAME, failover: SHARED_NAME },
  ...REQUEST_FIELDS,
  ...ANOTHER_SERVER,
};

/** Rule that a model has one credential. */
const oneCredential: ValueCheck = {
  message: '"auth" and "params.apiKey" exclude each other',
  field: "auth",
  holds: ({ auth, params }) =>
    auth === undefined || !isRecord(params) || params.apiKey === undefined,
  cel: "!has(self.auth) || !has(self.params) || !has(self.params.apiKey)",
};

/** The same for the models of a shared provider. */
const oneSharedCredential: ValueCheck = {
  message: '"defaults.auth" and "params.apiKey" exclude each other',
  field: "defaults",
  holds: ({ defaults, params }) =>
    oneCredential.holds({ auth: isRecord(defaults) ? defaults.auth : undefined, params }),
  cel: "!has(self.defaults) || !has(self.defaults.auth) || !has(self.params) || !has(self.params.apiKey)",
};

/** Rule that models of a shared provider only set `model`. */
const onlyModelOfReference: ValueCheck = {
  message: 'models of a shared provider only set "model" in "params": the provider has the rest',
  field: "params",
  holds: ({ provider, params }) =>
    !isRecord(provider) ||
    provider.reference === undefined ||
    !isRecord(params) ||
    Object.keys(params).every((key) => key === "model"),
  cel: "!has(self.provider.reference) || !has(self.params) || self.params.all(k, k == 'model')",
};

const BASE_URL = hintFor("for another server with the provider's API, write baseUrl: URL", [
  ...["apiBase", "api_base", "base_url", "url", "endpoint", "host"],
]);

function paramsSchema() {
  return object(
    {
      model: shortText(
        "The provider's name of the model; by default the name that the client sent.",
      ),
      apiKey: credentialSchema(
        "API key for the provider: `${NAME}`, or `{file: PATH}`. Without it, the client's own key is forwarded.",
      ),
      api: apiField(CHAT_APIS),
      ...providerServerFields(),
      awsRegion: text("AWS region of Bedrock, or of the signature of `auth.aws`.", {
        maxLength: 63,
        pattern: "^[a-z0-9-]+$",
        form: "lower-case letters, digits and dashes",
        default: "us-east-1",
      }),
      vertexProject: text("Google Cloud project (Vertex AI).", {
        maxLength: 64,
        pattern: "^[a-z0-9.:-]+$",
        form: "a project id",
      }),
      vertexRegion: text("Region (Vertex AI); `us` and `eu` are multi-regions.", {
        maxLength: 64,
        pattern: "^[a-z0-9-]+$",
        form: "lower-case letters, digits and dashes",
        default: "global",
      }),
      azureHost: shortText(
        "Host of the resource (Azure OpenAI): `NAME.openai.azure.com`, or `NAME.services.ai.azure.com`, which also serves Claude.",
      ),
      azureResourceName: azureResourceNameSchema(
        "Name of the resource (Azure OpenAI): the `NAME` in `azureHost`.",
      ),
      azureResourceType: azureResourceTypeSchema("Type of that resource (Azure OpenAI)."),
      azureProjectName: azureProjectNameSchema(),
      azureApiVersion: text(
        "API version (Azure OpenAI): `v1`, `preview`, or a date (`2024-10-21`).",
        {
          maxLength: 64,
          pattern: "^[A-Za-z0-9.-]+$",
          form: "v1, preview or a date",
          default: "v1",
        },
      ),
      tokenize,
    },
    {
      checks: [oneServer],
      misplacedFieldHints: { ...REQUEST_FIELDS, ...BASE_URL },
      description: "The provider's model, server and key.",
    },
  );
}

/** Words of providers whose models have the parameter `api`. */
const API_PROVIDERS = [
  ...providers.flatMap(({ kind, fileKeys, takesApi }) =>
    takesApi === true ? [kind, ...fileKeys] : [],
  ),
  ...Object.keys(presets),
];

/** Rule that only servers with several APIs are asked for one. */
const apiOfServer: ValueCheck = {
  message: '"api" requires a provider that has several APIs: openai, azureopenai or a known server',
  field: "params",
  holds: ({ provider, params }) =>
    !isRecord(params) ||
    params.api === undefined ||
    API_PROVIDERS.some((each) => each === provider),
  cel: `!has(self.params) || !has(self.params.api) || self.provider in ${JSON.stringify(API_PROVIDERS)}`,
};

/** Returns checks that a model has the parameters of its own provider only, and the required ones. */
function paramChecks({
  kind,
  fileKeys,
  ownParams = [],
  neededParams = [],
}: (typeof providers)[number]): readonly ValueCheck[] {
  const keys = [kind, ...fileKeys];
  const isOwn = ({ provider }: Readonly<Record<string, unknown>>): boolean =>
    keys.some((key) => key === provider);
  const has = (value: Readonly<Record<string, unknown>>, param: OwnParam): boolean =>
    isRecord(value.params) && value.params[param] !== undefined;
  const kinds = JSON.stringify(keys);
  const misplaced = ownParams.map((param) => {
    // The region of a signature, which servers of other providers in AWS require as well.
    const isSigned = param === "awsRegion";
    return {
      message: `"${param}" requires a model of ${kind}${isSigned ? ", or `auth: {aws: {}}`" : ""}`,
      field: "params",
      holds: (value: Readonly<Record<string, unknown>>) =>
        isOwn(value) || !has(value, param) || (isSigned && signs(value)),
      cel:
        `self.provider in ${kinds} || !has(self.params) || !has(self.params.${param})` +
        (isSigned ? " || (has(self.auth) && has(self.auth.aws))" : ""),
    };
  });
  if (neededParams.length === 0) return misplaced;
  const given = neededParams.map((param) => `has(self.params.${param})`);
  const needed = {
    message: `models of ${kind} require ${neededParams.map((each) => `"${each}"`).join(" or ")}`,
    holds: (value: Readonly<Record<string, unknown>>) =>
      !isOwn(value) || neededParams.filter((param) => has(value, param)).length === 1,
    cel: `!(self.provider in ${kinds}) || (has(self.params) && [${given}].filter(x, x).size() == 1)`,
  };
  return [...misplaced, needed];
}

function signs({ auth }: Readonly<Record<string, unknown>>): boolean {
  return isRecord(auth) && auth.aws !== undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
