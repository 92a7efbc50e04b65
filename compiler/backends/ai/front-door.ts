import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies, RouteType } from "../../model/llm-policies.ts";
import type { Text } from "../../model/texts.ts";
import type { BackendUse } from "../backend.ts";
import type { AiConfig, ProviderConfig, VirtualModelConfig } from "./ai-config.ts";
import {
  type ProviderKind,
  type ProviderOptions,
  providerOf,
  providers,
} from "./providers/index.ts";
import type { ModelParams } from "./providers/provider.ts";

/** A model of the `llm` section of a file. */
export interface NamedModel {
  /** Name that clients use, with at most one `*`. */
  readonly name: string;
  /** Any key of a provider, including aliases. */
  readonly provider: string;
  readonly params:
    | (ModelParams & {
        readonly apiKey?: Text;
        readonly hostOverride?: Text;
        readonly tokenize?: boolean;
        readonly pathOverride?: string;
      })
    | undefined;
  /** Policies for its requests and responses only. */
  readonly policies: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** Returns the backend that serves the models of the `llm` section; `policies` apply to all of them. */
export function modelsByName(
  models: readonly NamedModel[],
  virtualModels: readonly VirtualModelConfig[],
  policies: BackendPolicies | undefined,
  origin: Origin,
): BackendUse<AiConfig> & { readonly kind: "ai" } {
  const names = [...new Set(models.map(({ name }) => name))];
  const groups = names.map((name) => models.filter((model) => model.name === name).map(readModel));
  return {
    kind: "ai",
    config: { models: names, groups, ...(virtualModels.length > 0 && { virtualModels }) },
    policies: mergeBackendPolicies({ ai: allPaths(origin) }, policies),
    origin,
  };
}

/** Maps every API path to its type of traffic. */
function allPaths(origin: Origin): LlmPolicies {
  const value: Readonly<Record<string, RouteType>> = {
    "/chat/completions": "Completions",
    "/messages": "Messages",
    "/messages/count_tokens": "TokenCount",
    "/responses": "Responses",
    "/embeddings": "Embeddings",
    "/models": "Models",
  };
  return { routes: { value, origin }, origin };
}

function readModel(
  { name, provider, params = {}, policies: own, origin }: NamedModel,
  index: number,
): ProviderConfig {
  const { apiKey: key, hostOverride, pathOverride, tokenize = false } = params;
  const paramsOrigin = childOf(origin, "params");
  const keyOrigin = childOf(paramsOrigin, "apiKey");
  const policies: BackendPolicies = {
    ...own,
    ...(key !== undefined && { auth: { kind: "key", key, keyOrigin, origin: paramsOrigin } }),
  };
  return {
    // Providers of the same model need distinct names.
    name: index === 0 ? name : `${name}-${index + 1}`,
    options: optionsFor(provider, params),
    optionsOrigin: paramsOrigin,
    server: hostOverride,
    serverOrigin: childOf(paramsOrigin, "hostOverride"),
    port: undefined,
    path: pathOverride,
    tokenize: tokenize ? childOf(paramsOrigin, "tokenize") : undefined,
    policies,
    origin,
  };
}

function optionsFor(key: string, params: ModelParams): ProviderOptions {
  const unit = providers.find(({ kind, fileKeys }) => kind === key || fileKeys.includes(key));
  return optionsOf(unit?.kind ?? "openai", params);
}

function optionsOf<Kind extends ProviderKind>(
  kind: Kind,
  params: ModelParams,
): ProviderOptions<Kind> {
  return { kind, value: providerOf<Kind>(kind).ofModel(params) };
}
