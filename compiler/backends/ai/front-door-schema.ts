import { hintFor } from "../../schema/hint-for.ts";
import {
  anyText,
  choice,
  type Infer,
  object,
  shortText,
  text,
  unsupported,
  unsupportedBut,
  type ValueCheck,
} from "../../schema/schema.ts";
import { connectionSchemas } from "../parts/connection-schema.ts";
import { headerChangesSchema } from "../parts/header-changes.ts";
import { healthSchema } from "../parts/health.ts";
import { promptGuardSchema } from "./guard-file-form.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import { othersLikeOpenAi } from "./others-like-openai.ts";
import { promptCaching, requestFieldMaps, transformationsSchema } from "./policies-schema.ts";
import { overrideFields } from "./provider-fields.ts";
import { providers } from "./providers/index.ts";
import type { OwnParam } from "./providers/provider.ts";
import { tokenize } from "./tokenize.ts";

/** A model of the `llm` section, as validated by its schema. */
export type LlmModelValue = Infer<ReturnType<typeof modelSchema>>;

/** Returns the schema of a model of the `llm` section. */
export function modelSchema() {
  const { backendTLS } = connectionSchemas();
  const kinds = providers.flatMap(({ kind, fileKeys }) => [kind, ...fileKeys]);
  return object(
    {
      name: shortText(
        "Name that clients use, exact or with one `*` at its start or end. Entries with the same name share its requests.",
        MODEL_PATTERN,
      ),
      provider: choice("Provider of the model.", kinds, {
        misplacedFieldHints: othersLikeOpenAi(
          "for a server with OpenAI's API, write `provider: openAI`, with hostOverride: HOST:PORT in `params`",
        ),
      }),
      params: paramsSchema(),
      ...requestFieldMaps,
      transformation: transformationsSchema,
      finalTransformation: unsupportedBut(
        "changes to requests after their translation",
        "write `transformation`, which changes requests before they are translated",
      ),
      requestHeaders: headerChangesSchema("Changes to the headers of requests to this model only."),
      responseHeaders: headerChangesSchema("Changes to the headers of this model's responses."),
      guardrails: promptGuardSchema(),
      promptCaching: promptCaching(),
      health: healthSchema(),
      backendTLS,
      auth: unsupportedBut("credentials of one model", "write the key as `apiKey` in `params`"),
      matches: unsupportedBut(
        "models by header",
        "write a route under `binds` for each header, with `matches` on the header and an `ai` backend for the model",
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
      ],
      hasParts: true,
      misplacedFieldHints: {
        ...{ fallback: SHARED_NAME, fallbacks: SHARED_NAME, failover: SHARED_NAME },
        ...REQUEST_FIELDS,
        ...ANOTHER_SERVER,
      },
      checks: providers.flatMap(paramChecks),
    },
  );
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
  "for another server with the provider's API, write hostOverride: HOST:PORT",
  ["baseUrl", "apiBase", "url", "endpoint", "host"],
);

function paramsSchema() {
  return object(
    {
      model: shortText(
        "The provider's name of the model; by default the name that the client sent.",
      ),
      apiKey: anyText({
        minLength: 1,
        maxLength: 2048,
        secret: true,
        description:
          "API key for the provider, as `${NAME}`. Without it, the client's own key is forwarded.",
      }),
      ...overrideFields,
      awsRegion: text("AWS region (Bedrock).", {
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
      azureResourceName: text("Name of the resource (Azure OpenAI): the `NAME` in `azureHost`.", {
        maxLength: 64,
        pattern: "^[A-Za-z0-9-]+$",
        form: "letters, digits and dashes",
      }),
      azureApiVersion: text(
        "API version (Azure OpenAI): `v1`, `preview`, or a date (`2024-10-21`).",
        {
          maxLength: 64,
          pattern: "^[A-Za-z0-9.-]+$",
          form: "v1, preview or a date",
          default: "v1",
        },
      ),
      azureResourceType: unsupported("Azure AI Foundry"),
      azureProjectName: unsupported("Azure AI Foundry"),
      tokenize,
    },
    {
      misplacedFieldHints: { ...REQUEST_FIELDS, ...ANOTHER_SERVER },
      description: "The provider's model, server and key.",
    },
  );
}

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
  const misplaced = ownParams.map((param) => ({
    message: `"${param}" requires a model of ${kind}`,
    field: "params",
    holds: (value: Readonly<Record<string, unknown>>) => isOwn(value) || !has(value, param),
    cel: `self.provider in ${kinds} || !has(self.params) || !has(self.params.${param})`,
  }));
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
