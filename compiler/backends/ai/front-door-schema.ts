import { hintFor } from "../../schema/hint-for.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
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
import { providers } from "./providers/index.ts";
import type { OwnParam } from "./providers/provider.ts";
import { tokenize } from "./tokenize.ts";

/** A model of the front door as its schema lets it through. */
export type LlmModelValue = Infer<ReturnType<typeof modelSchema>>;

/** A model of the front door. */
export function modelSchema() {
  const { backendTLS } = connectionSchemas();
  const kinds = providers.flatMap(({ kind, fileKeys }) => [kind, ...fileKeys]);
  return object(
    {
      name: shortText(
        "What clients ask for, exactly, or with one `*` at its start or end. Entries of one name share its requests.",
        MODEL_PATTERN,
      ),
      provider: choice("Whose model it is.", kinds, {
        misplacedFieldHints: othersLikeOpenAi(
          "a server that speaks as OpenAI does is `provider: openAI`, with hostOverride: HOST:PORT in `params`",
        ),
      }),
      params: paramsSchema(),
      ...requestFieldMaps,
      transformation: transformationsSchema,
      finalTransformation: unsupportedBut(
        "changes to requests behind their translation",
        "write `transformation`: it changes a request before, and its fields are translated as the others are",
      ),
      requestHeaders: headerChangesSchema(
        "Changes to the headers of requests to this model alone.",
      ),
      responseHeaders: headerChangesSchema("Changes to the headers of this model's responses."),
      guardrails: promptGuardSchema(),
      promptCaching: promptCaching(),
      health: healthSchema(),
      backendTLS,
      auth: unsupportedBut("credentials of one model", "write the key as `apiKey` of its `params`"),
      matches: unsupportedBut(
        "models by header",
        "write a route under `binds` for each header: its `matches` name the header, its `ai` backend the model",
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

/** What is said of models that are asked one after the other, or by shares. */
export const SHARED_NAME =
  "a name that stands for several models is one of `virtualModels` of `llm`";

const REQUEST_FIELDS = hintFor(
  "fields of requests are said by `defaults` (for clients that say nothing) and `overrides` of the model",
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
  "another server that speaks as the provider does is hostOverride: HOST:PORT",
  ["baseUrl", "apiBase", "url", "endpoint", "host"],
);

function paramsSchema() {
  return object(
    {
      model: shortText(
        "The provider's name of the model; the one that the client asks for by default.",
      ),
      apiKey: anyText({
        minLength: 1,
        maxLength: 2048,
        secret: true,
        description:
          "The gateway's key at the provider. Write ${NAME}. Without one the client's own goes on.",
      }),
      hostOverride: text(
        "`host:port` or a URL of another server that speaks as the provider does; plain HTTP unless it says otherwise.",
        { maxLength: 1024, readAtStart: true },
      ),
      pathOverride: shortText("Where that server serves the API.", {
        maxLength: 1024,
        ...PATH_FORM,
      }),
      awsRegion: text("Bedrock: the region.", {
        maxLength: 63,
        pattern: "^[a-z0-9-]+$",
        form: "lower-case letters, digits and dashes",
        default: "us-east-1",
      }),
      vertexProject: text("Vertex AI: the project.", {
        maxLength: 64,
        pattern: "^[a-z0-9.:-]+$",
        form: "the id of a project",
      }),
      vertexRegion: text("Vertex AI: the region; `us` and `eu` are of several regions.", {
        maxLength: 64,
        pattern: "^[a-z0-9-]+$",
        form: "lower-case letters, digits and dashes",
        default: "global",
      }),
      azureHost: shortText(
        "Azure OpenAI: the host of the resource, `NAME.openai.azure.com`, or `NAME.services.ai.azure.com`, which has Claude too.",
      ),
      azureResourceName: text("Azure OpenAI: the `NAME` of that host.", {
        maxLength: 64,
        pattern: "^[A-Za-z0-9-]+$",
        form: "letters, digits and dashes",
      }),
      azureApiVersion: text("Azure OpenAI: `v1`, `preview`, or a date (`2024-10-21`).", {
        maxLength: 64,
        pattern: "^[A-Za-z0-9.-]+$",
        form: "v1, preview or a date",
        default: "v1",
      }),
      azureResourceType: unsupported("Azure AI Foundry"),
      azureProjectName: unsupported("Azure AI Foundry"),
      tokenize,
    },
    {
      misplacedFieldHints: { ...REQUEST_FIELDS, ...ANOTHER_SERVER },
      description: "Which model, where, and with which key.",
    },
  );
}

/** That a model has the parameters of its provider, and of no other one. */
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
    message: `"${param}" acts only on models of ${kind}`,
    field: "params",
    holds: (value: Readonly<Record<string, unknown>>) => isOwn(value) || !has(value, param),
    cel: `self.provider in ${kinds} || !has(self.params) || !has(self.params.${param})`,
  }));
  if (neededParams.length === 0) return misplaced;
  const given = neededParams.map((param) => `has(self.params.${param})`);
  const needed = {
    message: `models of ${kind} need ${neededParams.map((each) => `"${each}"`).join(" or ")}`,
    holds: (value: Readonly<Record<string, unknown>>) =>
      !isOwn(value) || neededParams.filter((param) => has(value, param)).length === 1,
    cel: `!(self.provider in ${kinds}) || (has(self.params) && [${given}].filter(x, x).size() == 1)`,
  };
  return [...misplaced, needed];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
