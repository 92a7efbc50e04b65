import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ModelSpec } from "../../manifests/manifests.ts";
import type { ModelFields } from "../../manifests/model.ts";
import { isThisMachine } from "../../model/own-ports.ts";
import {
  choice,
  object,
  shortText,
  text,
  type ValueCheck,
  validated,
} from "../../schema/schema.ts";
import { modelApisSchema, type RequestedApi } from "./door-apis.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import { PROVIDER_WORD } from "./provider-fields.ts";
import { azureSettings } from "./providers/azureopenai.ts";
import { bedrockSettings } from "./providers/bedrock.ts";
import { customService, serverFormats } from "./providers/custom.ts";
import { optionsOfModel, type ProviderKind, type ProviderOptions } from "./providers/index.ts";
import { isPreset, presets } from "./providers/presets.ts";
import { vertexSettings } from "./providers/vertexai.ts";
import { manifestRoutingSchema } from "./virtual-models-schema.ts";

/** Providers that are not known servers, by their words in manifests. */
const OWN_WORDS: Readonly<Record<string, ProviderKind>> = {
  OpenAI: "openai",
  Azure: "azureopenai",
  Anthropic: "anthropic",
  Gemini: "gemini",
  VertexAI: "vertexai",
  Bedrock: "bedrock",
  Custom: "custom",
};

/** Words for known servers that have more than one capital letter. */
const CAPITALS: Readonly<Record<string, string>> = { togetherai: "TogetherAI", xai: "XAI" };

const PRESET_WORDS = Object.keys(presets).map(
  (name) => CAPITALS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
);

/** Known servers that run where their users want, and have no public address. */
const LOCAL_WORDS = PRESET_WORDS.filter((word) => isLocal(presetOf(word)));

/** The settings of single providers, by field. */
const settings = {
  azure: object(azureSettings, {
    required: ["resourceName"],
    description: "Resource of Azure (`provider: Azure`).",
  }),
  vertexai: object(vertexSettings, {
    required: ["projectId"],
    description: "Project of Google Cloud (`provider: VertexAI`).",
  }),
  bedrock: object(bedrockSettings, {
    description: "Settings of Amazon Bedrock (`provider: Bedrock`).",
  }),
  custom: object(
    {
      formats: serverFormats(),
      backendRef: customService("Service or InferencePool of the server, instead of `baseURL`."),
    },
    {
      required: ["formats"],
      description: "A server that has APIs of OpenAI or Anthropic (`provider: Custom`).",
    },
  ),
};

/** Providers of the settings. */
const WORD_OF = {
  azure: "Azure",
  vertexai: "VertexAI",
  bedrock: "Bedrock",
  custom: "Custom",
} as const;

/** Returns the fields of a GatewayModel that say which models of which provider it serves. */
export function modelFields(): ModelFields {
  return {
    model: shortText(
      "Name that clients use, exact or with one `*` at its start or end; the resource's own name by default.",
      MODEL_PATTERN,
    ),
    provider: choice(PROVIDER_WORD, [...Object.keys(OWN_WORDS), ...PRESET_WORDS]),
    baseURL: text(
      "Base URL of the API on another server, as SDKs take it: `http://ollama.default.svc.cluster.local:11434/v1`. Its path replaces the provider's own base path, which is also the default.",
      {
        maxLength: 1024,
        pattern: "^https?://[^/?#@]+(/[^?#]*)?$",
        form: "an http or https URL without a query",
      },
    ),
    apis: modelApisSchema,
    settings,
    virtualModel: manifestRoutingSchema(),
    checks: [...settingChecks(), ...BASE_URL_CHECKS],
  };
}

/** Returns the options of a model's provider; `undefined` for a virtual model. */
export function providerOfModel(spec: ModelSpec): ProviderOptions | undefined {
  const { provider } = spec;
  if (provider === undefined) return undefined;
  const own = OWN_WORDS[provider];
  switch (own) {
    case "azureopenai": {
      const azure = validated(settings.azure, Reflect.get(spec, "azure"));
      return optionsOfModel(own, {
        azureResourceName: azure.resourceName,
        ...(azure.resourceType !== undefined && { azureResourceType: azure.resourceType }),
        ...(azure.projectName !== undefined && { azureProjectName: azure.projectName }),
        ...(azure.apiVersion !== undefined && { azureApiVersion: azure.apiVersion }),
      });
    }
    case "vertexai": {
      const { projectId, region } = validated(settings.vertexai, Reflect.get(spec, "vertexai"));
      return optionsOfModel(own, {
        vertexProject: projectId,
        ...(region !== undefined && { vertexRegion: region }),
      });
    }
    case "bedrock": {
      const { region, guardrail } = validated(settings.bedrock, Reflect.get(spec, "bedrock") ?? {});
      return {
        kind: own,
        value: {
          ...(region !== undefined && { region }),
          ...(guardrail && {
            guardrailIdentifier: guardrail.identifier,
            guardrailVersion: guardrail.version,
          }),
        },
      };
    }
    case "custom":
      return { kind: own, value: { formats: customOf(spec)?.formats ?? [] } };
    default:
      return optionsOfModel(own ?? presetOf(provider), {});
  }
}

/** Returns the APIs that a model serves on request. `name`: that clients use. */
export function apisOfModel(
  spec: ModelSpec,
  name: string,
  origin: Origin,
): readonly RequestedApi[] {
  const value: unknown = Reflect.get(spec, "apis");
  const names = value === undefined ? [] : validated(modelApisSchema, value);
  return names.map((api, index) => ({
    name: api,
    model: name,
    origin: childOf(origin, "apis", index),
  }));
}

/** Returns the settings of a custom server; `undefined` if the model has another provider. */
export function customOf(spec: ModelSpec) {
  const value: unknown = Reflect.get(spec, "custom");
  return value === undefined ? undefined : validated(settings.custom, value);
}

function presetOf(word: string): string {
  return word.toLowerCase();
}

function isLocal(name: string): boolean {
  return isPreset(name) && isThisMachine(new URL(presets[name].url).hostname);
}

/** Returns checks that a model has the settings of its own provider only, and the required ones. */
function settingChecks(): readonly ValueCheck[] {
  return (["azure", "vertexai", "bedrock", "custom"] as const).flatMap((field) => {
    const word = WORD_OF[field];
    const misplaced: ValueCheck = {
      message: `"${field}" requires provider: ${word}`,
      field,
      holds: (value) => value[field] === undefined || value.provider === word,
      cel: `!has(self.${field}) || (has(self.provider) && self.provider == '${word}')`,
    };
    const missing: ValueCheck = {
      message: `provider ${word} requires "${field}"`,
      field: "provider",
      holds: (value) => value.provider !== word || value[field] !== undefined,
      cel: `!has(self.provider) || self.provider != '${word}' || has(self.${field})`,
    };
    return [misplaced, missing];
  });
}

/** Hosts of a URL that only the gateway's own machine or link reaches. */
const NEAR_HOST =
  "^https?://([^/]*[.])?(localhost|127[.][0-9.]+|0[.]0[.]0[.]0|169[.]254[.][0-9.]+|\\[::1?\\]|\\[fe[89ab][0-9a-f:]*\\])(:[0-9]+)?(/|$)";

const BASE_URL_CHECKS: readonly ValueCheck[] = [
  {
    message: '"apis" requires "provider"',
    field: "apis",
    holds: ({ apis, provider }) => apis === undefined || provider !== undefined,
    cel: "!has(self.apis) || has(self.provider)",
  },
  {
    message: '"baseURL" requires "provider"',
    field: "baseURL",
    holds: ({ baseURL, provider }) => baseURL === undefined || provider !== undefined,
    cel: "!has(self.baseURL) || has(self.provider)",
  },
  {
    message: 'this server runs at an address of your own: set "baseURL"',
    field: "provider",
    holds: ({ provider, baseURL }) =>
      baseURL !== undefined || !LOCAL_WORDS.some((word) => word === provider),
    cel: `has(self.baseURL) || !has(self.provider) || !(self.provider in ${JSON.stringify(LOCAL_WORDS)})`,
  },
  {
    message: '"baseURL" must not be a loopback or link-local address',
    field: "baseURL",
    holds: ({ baseURL }) =>
      typeof baseURL !== "string" || !new RegExp(NEAR_HOST, "i").test(baseURL),
    cel: `!has(self.baseURL) || !self.baseURL.lowerAscii().matches(r"""${NEAR_HOST}""")`,
  },
  {
    message: '"custom.backendRef" and "baseURL" exclude each other',
    field: "baseURL",
    holds: ({ baseURL, custom }) => baseURL === undefined || !hasReference(custom),
    cel: "!has(self.baseURL) || !has(self.custom) || !has(self.custom.backendRef)",
  },
];

function hasReference(custom: unknown): boolean {
  return typeof custom === "object" && custom !== null && Object.hasOwn(custom, "backendRef");
}
