import type {
  PromptMessage,
  PromptMessages,
} from "../../../../runtime/llm/formats/prompt-messages.ts";
import {
  type GuardContext,
  promptGuard,
  readPromptGuard,
} from "../../../backends/ai/guard-manifest-form.ts";
import { llmFields } from "../../../backends/ai/manifest-policies.ts";
import { readPromptCaching, routeTypeOf } from "../../../backends/ai/policies-schema.ts";
import { readResponseCache } from "../../../backends/ai/response-cache.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { NamedExpression } from "../../../model/expressions.ts";
import type { Json } from "../../../model/json.ts";
import type { LlmPolicies, RouteType } from "../../../model/llm-policies.ts";
import type { PromptGuardConfig } from "../../../model/prompt-guards.ts";
import { validated } from "../../../schema/schema.ts";
import type { EffectiveField, FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { ownConnection } from "./own-connection.ts";
import { serverOf } from "./servers.ts";

/**
 * Reads the LLM policies, each part from the most specific `backend.ai` field; returns `undefined` if no such
 * field is set.
 */
export function llmPolicies(
  fields: readonly EffectiveField[],
  gateway: Manifest,
  context: PolicyContext,
): LlmPolicies | undefined {
  const given = new Map(fields.map(({ field, values }) => [field, values]));
  const part = (name: string) => given.get(`backend.ai.${name}`)?.at(-1);
  const [routes, defaults, overrides] = [part("routes"), part("defaults"), part("overrides")];
  const [aliases, prompt] = [part("modelAliases"), part("prompt")];
  const [caching, guard] = [part("promptCaching"), part("promptGuard")];
  const [transforms, unsupported] = [part("transformations"), part("unsupported")];
  const final = part("finalTransformations");
  const cache = part("cache");
  const found = [
    ...[routes, defaults, overrides, transforms, aliases, prompt, caching, guard, unsupported],
    ...[cache, final],
  ];
  const first = found.find((each) => each !== undefined);
  if (first === undefined) return undefined;
  const wanted = defaults === undefined ? [] : validated(llmFields.defaults, defaults.value);
  const missing = wanted.filter(({ override }) => override !== true);
  // A default with `override: true` counts as an override.
  const forced = wanted.filter(({ override }) => override === true);
  const stated = overrides === undefined ? [] : validated(llmFields.overrides, overrides.value);
  const replaced = [...forced, ...stated];
  return {
    origin: first.origin,
    ...(routes && { routes: { value: readRoutes(routes), origin: routes.origin } }),
    ...(defaults &&
      missing.length > 0 && {
        defaults: { value: byField(missing), origin: defaults.origin },
      }),
    ...(replaced.length > 0 && {
      overrides: { value: byField(replaced), origin: (overrides ?? defaults ?? first).origin },
    }),
    ...(transforms && {
      transformations: { value: readTransforms(transforms), origin: transforms.origin },
    }),
    ...(final && {
      finalTransformations: { value: readTransforms(final), origin: final.origin },
    }),
    ...(aliases && {
      modelAliases: {
        value: validated(llmFields.modelAliases, aliases.value),
        origin: aliases.origin,
      },
    }),
    ...(caching && {
      promptCaching: {
        value: readPromptCaching(validated(llmFields.promptCaching, caching.value)),
        origin: caching.origin,
      },
    }),
    ...(cache && {
      cache: {
        value: readResponseCache(
          validated(llmFields.cache, cache.value),
          guardContext(cache, gateway, context),
        ),
        origin: cache.origin,
      },
    }),
    ...(unsupported && {
      unsupported: {
        value: validated(llmFields.unsupported, unsupported.value),
        origin: unsupported.origin,
      },
    }),
    ...(guard && {
      promptGuard: { value: readGuard(guard, gateway, context), origin: guard.origin },
    }),
    ...(prompt && { prompts: { value: readPrompts(prompt), origin: prompt.origin } }),
  };
}

function readGuard(
  field: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): PromptGuardConfig {
  return readPromptGuard(
    validated(promptGuard, field.value),
    guardContext(field, gateway, context),
  );
}

function guardContext(
  { source, level, origin }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): GuardContext {
  return {
    origin,
    server: (reference, at) => serverOf({ reference, from: source, gateway, origin: at }, context),
    connection: (fields, at) =>
      ownConnection(fields, { level, source, origin: at }, gateway, context),
  };
}

function readRoutes({ value }: FieldValue): Readonly<Record<string, RouteType>> {
  const words = Object.entries(validated(llmFields.routes, value));
  return Object.fromEntries(words.map(([suffix, word]) => [suffix, routeTypeOf(word)]));
}

function byField(
  values: readonly { readonly field: string; readonly value: Json }[],
): Readonly<Record<string, Json>> {
  return Object.fromEntries(values.map(({ field, value }) => [field, value]));
}

function readTransforms({ value, origin }: FieldValue): readonly NamedExpression[] {
  const fields = validated(llmFields.transformations, value);
  return fields.map(({ field, expression }, index) => {
    return { name: field, text: expression, origin: childOf(origin, index, "expression") };
  });
}

function readPrompts({ value }: FieldValue): Required<PromptMessages> {
  const { prepend = [], append = [] } = validated(llmFields.prompt, value);
  return { prepend: prepend.map(lowerCased), append: append.map(lowerCased) };
}

/** Converts roles of manifests, which are in upper case (`SYSTEM`). */
function lowerCased({ role, content }: PromptMessage): PromptMessage {
  return { role: role.toLowerCase(), content };
}
