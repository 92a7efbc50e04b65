import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies, RouteType } from "../../model/llm-policies.ts";
import type { BackendUse } from "../backend.ts";
import { keyOf } from "../parts/read-connection.ts";
import { type CredentialValue, readSecretValue } from "../parts/sent-credentials.ts";
import type { AiConfig, ProviderConfig, VirtualModelConfig } from "./ai-config.ts";
import { apiPaths, type RequestedApi } from "./door-apis.ts";
import { conditionsKey, type ModelConditions } from "./model-conditions.ts";
import type { ProviderOptions } from "./providers/index.ts";
import type { ModelParams } from "./providers/provider.ts";
import { readServer, type ServerValue } from "./server-fields.ts";

/** A model of the `llm` section of a file. */
export interface NamedModel {
  /** Name that clients use, with at most one `*`. */
  readonly name: string;
  /** Name in logs; `undefined` for the one that clients use. */
  readonly id: string | undefined;
  readonly options: ProviderOptions;
  readonly params: ModelSettings;
  readonly paramsOrigin: Origin;
  /** Which requests it serves, besides its name; `undefined` for all. */
  readonly conditions: ModelConditions | undefined;
  /** Whether requests to other paths pass to it unread. */
  readonly passes: boolean;
  /** Whether only virtual models use it. */
  readonly isInternal: boolean;
  /** Policies for its requests and responses only. */
  readonly policies: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** `params` of a model, as validated. */
export type ModelSettings = ModelParams &
  ServerValue & { readonly apiKey?: CredentialValue; readonly tokenize?: boolean };

/** A provider of a model. */
export interface ServedModel {
  /** Name that clients use, with at most one `*`. */
  readonly name: string;
  /** Whether only virtual models use it. */
  readonly isInternal: boolean;
  /** Which requests it serves, besides its name; absent for all. */
  readonly conditions?: ModelConditions | undefined;
  /** Whether requests to other paths pass to it unread; absent if not. */
  readonly passes?: boolean;
  readonly provider: ProviderConfig;
}

/** Returns the backend that serves the models of the `llm` section; `policies` apply to all of them. */
export function modelsByName(
  models: readonly NamedModel[],
  virtualModels: readonly VirtualModelConfig[],
  apis: readonly RequestedApi[],
  policies: BackendPolicies | undefined,
  origin: Origin,
): BackendUse<AiConfig> & { readonly kind: "ai" } {
  const byName = [...Map.groupBy(models, ({ name }) => name).values()];
  const served = byName.flatMap((same) =>
    same.map((model, index) => ({ ...model, provider: readModel(model, index) })),
  );
  return servedModels(served, virtualModels, policies, origin, apis);
}

/** Returns the backend that serves models by name; those of the same name and conditions share its requests. */
export function servedModels(
  models: readonly ServedModel[],
  virtualModels: readonly VirtualModelConfig[],
  policies: BackendPolicies | undefined,
  origin: Origin,
  apis: readonly RequestedApi[] = [],
): BackendUse<AiConfig> & { readonly kind: "ai" } {
  const alike = ({ name, conditions, passes = false }: ServedModel) =>
    `${name} ${passes} ${conditionsKey(conditions)}`;
  const entries = [...Map.groupBy(models, alike).values()];
  const names = entries.flatMap(([first]) => first?.name ?? []);
  const conditions = entries.map(([first]) => first?.conditions);
  const groups = entries.map((same) => same.map(({ provider }) => provider));
  const passed = entries.flatMap(([first], group) => (first?.passes === true ? [group] : []));
  const internal = models.filter(({ isInternal }) => isInternal).map(({ name }) => name);
  return {
    kind: "ai",
    config: {
      models: names,
      groups,
      ...(conditions.some((each) => each !== undefined) && { conditions }),
      ...(passed.length > 0 && { passed }),
      ...(internal.length > 0 && { internal }),
      ...(virtualModels.length > 0 && { virtualModels }),
      ...(apis.length > 0 && { apis }),
    },
    policies: mergeBackendPolicies({ ai: allPaths(apis, passed.length > 0, origin) }, policies),
    origin,
  };
}

/** Maps every API path to its type of traffic; `passes`: whether others pass unread. */
function allPaths(apis: readonly RequestedApi[], passes: boolean, origin: Origin): LlmPolicies {
  const value: Readonly<Record<string, RouteType>> = {
    "/chat/completions": "Completions",
    "/messages": "Messages",
    "/messages/count_tokens": "TokenCount",
    "/responses": "Responses",
    "/embeddings": "Embeddings",
    "/models": "Models",
    "/usage": "Usage",
    ":generateContent": "GenerateContent",
    ":streamGenerateContent": "GenerateContent",
    ":countTokens": "ContentTokenCount",
    "/converse": "Converse",
    "/converse-stream": "Converse",
    ...Object.assign({}, ...apis.map(apiPaths)),
    ...(passes && { "*": "Passthrough" }),
  };
  return { routes: { value, origin }, origin };
}

function readModel(
  { name, id, options, params, paramsOrigin, policies: own, origin }: NamedModel,
  index: number,
): ProviderConfig {
  const { apiKey: key, tokenize = false } = params;
  const keyOrigin = childOf(paramsOrigin, "apiKey");
  const policies: BackendPolicies = {
    ...(key !== undefined && {
      auth: { ...keyOf(readSecretValue(key, keyOrigin)), origin: paramsOrigin },
    }),
    ...own,
    ...(own?.auth?.kind === "aws" && {
      auth: { ...own.auth, region: own.auth.region ?? params.awsRegion },
    }),
  };
  return {
    // Providers of the same model need distinct names.
    name: id ?? (index === 0 ? name : `${name}-${index + 1}`),
    options,
    optionsOrigin: paramsOrigin,
    ...readServer(params, paramsOrigin),
    port: undefined,
    tokenize: tokenize ? childOf(paramsOrigin, "tokenize") : undefined,
    policies,
    origin,
  };
}
