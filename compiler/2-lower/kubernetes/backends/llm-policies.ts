import type {
  PromptMessage,
  PromptMessages,
} from "../../../../runtime/llm/formats/prompt-messages.ts";
import { promptGuard, readPromptGuard } from "../../../backends/ai/guard-manifest-form.ts";
import { llmFields, namedRouteType } from "../../../backends/ai/manifest-policies.ts";
import { readPromptCaching } from "../../../backends/ai/policies-schema.ts";
import type { Json } from "../../../model/json.ts";
import type { LlmPolicies, RouteType } from "../../../model/llm-policies.ts";
import { validated } from "../../../schema/schema.ts";
import type { FieldValue } from "../policies/merge.ts";

/** What becomes of requests to models: each part from the policy whose `backend.ai` field counts; undefined: none has any. */
export function llmPolicies(
  only: (field: string) => FieldValue | undefined,
): LlmPolicies | undefined {
  const part = (name: string) => only(`ai.${name}`);
  const [routes, defaults, overrides] = [part("routes"), part("defaults"), part("overrides")];
  const [aliases, prompt] = [part("modelAliases"), part("prompt")];
  const [caching, guard] = [part("promptCaching"), part("promptGuard")];
  const first = routes ?? defaults ?? overrides ?? aliases ?? prompt ?? caching ?? guard;
  if (first === undefined) return undefined;
  const given = defaults === undefined ? [] : validated(llmFields.defaults, defaults.value);
  const missing = given.filter(({ override }) => override !== true);
  // `override: true` among the defaults stands for an override.
  const forced = given.filter(({ override }) => override === true);
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
    ...(guard && {
      promptGuard: {
        value: readPromptGuard(validated(guardSchema, guard.value), guard.origin),
        origin: guard.origin,
      },
    }),
    ...(prompt && { prompts: { value: readPrompts(prompt), origin: prompt.origin } }),
  };
}

/** How a server of a guard is reached is read with the server. */
const guardSchema = promptGuard({});

function readRoutes({ value }: FieldValue): Readonly<Record<string, RouteType>> {
  const words = Object.entries(validated(llmFields.routes, value));
  return Object.fromEntries(words.map(([suffix, word]) => [suffix, namedRouteType(word)]));
}

function byField(
  values: readonly { readonly field: string; readonly value: Json }[],
): Readonly<Record<string, Json>> {
  return Object.fromEntries(values.map(({ field, value }) => [field, value]));
}

function readPrompts({ value }: FieldValue): PromptMessages {
  const { prepend = [], append = [] } = validated(llmFields.prompt, value);
  return { prepend: prepend.map(lowerCased), append: append.map(lowerCased) };
}

/** Manifests shout: `SYSTEM`. */
function lowerCased({ role, content }: PromptMessage): PromptMessage {
  return { role: role.toLowerCase(), content };
}
