import type { PromptMessage } from "../../../runtime/llm/formats/prompt-messages.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendHeaders, BackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies } from "../../model/llm-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { lowerPromptGuard } from "../ai/guard-file-form.ts";
import { type LlmPoliciesValue, readPromptCaching, routeTypeOf } from "../ai/policies-schema.ts";
import { type HeaderChangesValue, readHeaderChanges } from "./header-changes.ts";
import { readHealth } from "./health.ts";
import { lowerExpressions } from "./named-expressions.ts";
import type { BackendPoliciesValue, RouteBackendPoliciesValue } from "./policies-schema.ts";
import { readConnection } from "./read-connection.ts";

/** The parts of a route's validated `policies` that say how its backends are reached; undefined when it has none. */
export function readBackendPolicies(
  policies: RouteBackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { ai, health } = policies ?? {};
  const read: BackendPolicies = {
    ...readConnection(policies ?? {}, origin),
    ...(ai && { ai: readLlm(ai, childOf(origin, "ai")) }),
    ...(health && { health: readHealth(health, childOf(origin, "health")) }),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

/** The validated `policies` of one backend or server; undefined when it has none. */
export function readOwnPolicies(
  policies: BackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { requestHeaderModifier, responseHeaderModifier } = policies ?? {};
  const reached = readBackendPolicies(policies, origin);
  if (requestHeaderModifier === undefined && responseHeaderModifier === undefined) return reached;
  const changes = (key: string, value: HeaderChangesValue): BackendHeaders => {
    const at = childOf(origin, key);
    return { ...readHeaderChanges(value, at), origin: at };
  };
  return {
    ...reached,
    ...(requestHeaderModifier && {
      requestHeaders: changes("requestHeaderModifier", requestHeaderModifier),
    }),
    ...(responseHeaderModifier && {
      responseHeaders: changes("responseHeaderModifier", responseHeaderModifier),
    }),
  };
}

function readLlm(
  {
    routes,
    defaults,
    overrides,
    transformations,
    modelAliases,
    prompts,
    promptCaching,
    promptGuard,
    providerHeader,
    streamKeepAlive,
  }: LlmPoliciesValue,
  origin: Origin,
): LlmPolicies {
  const at = (part: string) => childOf(origin, part);
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
