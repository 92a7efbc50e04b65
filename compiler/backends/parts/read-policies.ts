import type { PromptMessage } from "../../../runtime/llm/formats/prompt-messages.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies } from "../../model/llm-policies.ts";
import type { BackendHeaders } from "../../model/server-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import type { LlmModelValue, LlmProviderValue } from "../ai/front-door-schema.ts";
import { lowerPromptGuard } from "../ai/guard-file-form.ts";
import { type LlmPoliciesValue, readPromptCaching, routeTypeOf } from "../ai/policies-schema.ts";
import { lowerResponseCache } from "../ai/response-cache.ts";
import { type HeaderChangesValue, readHeaderChanges } from "./header-changes.ts";
import { readHealth } from "./health.ts";
import { lowerExpressions } from "./named-expressions.ts";
import type { BackendPoliciesValue, RouteBackendPoliciesValue } from "./policies-schema.ts";
import { readConnection } from "./read-connection.ts";
import { readTunnel } from "./tunnel.ts";

/** Reads the connection policies of a route; returns `undefined` if it has none. */
export function readBackendPolicies(
  policies: RouteBackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { ai, health, backendTunnel } = policies ?? {};
  const read: BackendPolicies = {
    ...readConnection(policies ?? {}, origin),
    ...(ai && { ai: readLlm(ai, childOf(origin, "ai")) }),
    ...(health && { health: readHealth(health, childOf(origin, "health")) }),
    ...(backendTunnel && {
      tunnel: readTunnel(backendTunnel, childOf(origin, "backendTunnel")),
    }),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Reads the `policies` of a backend or server; returns `undefined` if it has none. */
export function readOwnPolicies(
  policies: BackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { requestHeaderModifier, responseHeaderModifier } = policies ?? {};
  const reached = readBackendPolicies(policies, origin);
  if (requestHeaderModifier === undefined && responseHeaderModifier === undefined) return reached;
  return {
    ...reached,
    ...readHeaders(
      "requestHeaders",
      requestHeaderModifier,
      childOf(origin, "requestHeaderModifier"),
    ),
    ...readHeaders(
      "responseHeaders",
      responseHeaderModifier,
      childOf(origin, "responseHeaderModifier"),
    ),
  };
}

/**
 * Reads the policies for requests and responses of a model of the `llm` section; returns `undefined` if it has
 * none.
 */
export function readModelPolicies(
  model: ModelPoliciesValue,
  origin: Origin,
): BackendPolicies | undefined {
  const {
    defaults,
    overrides,
    transformation,
    finalTransformation,
    guardrails,
    promptCaching,
    health,
    tls,
  } = model;
  const ai = {
    defaults,
    overrides,
    transformations: transformation,
    finalTransformations: finalTransformation,
    promptGuard: guardrails,
    promptCaching,
    cache: model.cache,
    unsupported: model.unsupported,
  };
  const hasAi = Object.values(ai).some((part) => part !== undefined);
  const read: BackendPolicies = {
    ...readConnection(
      {
        ...((model.backendTLS ?? tls) && { backendTLS: model.backendTLS ?? tls }),
        ...(model.auth && { backendAuth: model.auth }),
      },
      origin,
      { backendAuth: "auth", ...(tls && { backendTLS: "tls" }) },
    ),
    ...(model.backendTunnel && {
      tunnel: readTunnel(model.backendTunnel, childOf(origin, "backendTunnel")),
    }),
    ...(hasAi && { ai: readLlm(ai, origin, MODEL_KEYS) }),
    ...(health && { health: readHealth(health, childOf(origin, "health")) }),
    ...readHeaders("requestHeaders", model.requestHeaders, childOf(origin, "requestHeaders")),
    ...readHeaders("responseHeaders", model.responseHeaders, childOf(origin, "responseHeaders")),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Policies of a model, or those that a provider shares with its models. */
type ModelPoliciesValue = NonNullable<LlmProviderValue["defaults"]> &
  Pick<LlmModelValue, "guardrails">;

/** Names in the `llm` section for parts of `ai`. */
const MODEL_KEYS: Readonly<Record<string, string>> = {
  transformations: "transformation",
  finalTransformations: "finalTransformation",
  promptGuard: "guardrails",
};

function readHeaders(
  part: "requestHeaders" | "responseHeaders",
  value: HeaderChangesValue | undefined,
  origin: Origin,
): { readonly [Part in "requestHeaders" | "responseHeaders"]?: BackendHeaders } {
  return value === undefined ? {} : { [part]: { ...readHeaderChanges(value, origin), origin } };
}

function readLlm(
  {
    routes,
    defaults,
    overrides,
    transformations,
    finalTransformations,
    modelAliases,
    prompts,
    promptCaching,
    cache,
    promptGuard,
    unsupported,
    providerHeader,
    streamKeepAlive,
  }: { readonly [Part in keyof LlmPoliciesValue]: LlmPoliciesValue[Part] | undefined },
  origin: Origin,
  keys: Readonly<Record<string, string>> = {},
): LlmPolicies {
  const at = (part: string) => childOf(origin, keys[part] ?? part);
  return {
    ...(routes && {
      routes: { value: mapValues(routes, routeTypeOf), origin: at("routes") },
    }),
    ...(defaults && { defaults: { value: defaults, origin: at("defaults") } }),
    ...(overrides && { overrides: { value: overrides, origin: at("overrides") } }),
    ...(transformations && {
      transformations: {
        value: lowerExpressions(transformations, at("transformations")),
        origin: at("transformations"),
      },
    }),
    ...(finalTransformations && {
      finalTransformations: {
        value: lowerExpressions(finalTransformations, at("finalTransformations")),
        origin: at("finalTransformations"),
      },
    }),
    ...(providerHeader !== undefined && {
      providerHeader: { value: providerHeader, origin: at("providerHeader") },
    }),
    ...(streamKeepAlive !== undefined && {
      streamKeepAlive: { value: parseTimer(streamKeepAlive), origin: at("streamKeepAlive") },
    }),
    ...(modelAliases && { modelAliases: { value: modelAliases, origin: at("modelAliases") } }),
    ...(promptCaching && {
      promptCaching: { value: readPromptCaching(promptCaching), origin: at("promptCaching") },
    }),
    ...(cache && {
      cache: { value: lowerResponseCache(cache, at("cache")), origin: at("cache") },
    }),
    ...(unsupported && { unsupported: { value: unsupported, origin: at("unsupported") } }),
    ...(promptGuard && {
      promptGuard: {
        value: lowerPromptGuard(promptGuard, at("promptGuard")),
        origin: at("promptGuard"),
      },
    }),
    ...(prompts && {
      prompts: {
        value: { prepend: readPrompts(prompts.prepend), append: readPrompts(prompts.append) },
        origin: at("prompts"),
      },
    }),
    origin,
  };
}

function readPrompts(messages: readonly PromptMessage[] = []): readonly PromptMessage[] {
  return messages.map(({ role, content }) => ({ role: role.toLowerCase(), content }));
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
