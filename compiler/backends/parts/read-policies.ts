import type { PromptMessage } from "../../../runtime/llm/formats/prompt-messages.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies } from "../../model/llm-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { lowerPromptGuard } from "../ai/guard-file-form.ts";
import { readHealth } from "../ai/health.ts";
import { type LlmPoliciesValue, readPromptCaching, routeTypeOf } from "../ai/policies-schema.ts";
import { lowerExpressions } from "./named-expressions.ts";
import type { BackendPoliciesValue } from "./policies-schema.ts";
import { readConnection } from "./read-connection.ts";

/** The parts of a validated `policies` that say how a backend is reached; undefined when it has none. */
export function readBackendPolicies(
  policies: BackendPoliciesValue | undefined,
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
