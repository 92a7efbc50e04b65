import type { PromptCaching } from "../../../runtime/llm/chat/formats.ts";
import { ROUTE_TYPES, type RouteType } from "../../model/llm-policies.ts";
import {
  anyText,
  boolean,
  choice,
  duration,
  type Infer,
  integer,
  json,
  list,
  map,
  object,
  shortText,
  unsupportedBut,
} from "../../schema/schema.ts";
import { expressionsSchema } from "../parts/named-expressions.ts";
import { promptGuardSchema } from "./guard-file-form.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";

/** The words for route types: those of the specification, and how files of the reference spell them. */
const typeWords: Readonly<Record<string, RouteType>> = {
  ...Object.fromEntries(ROUTE_TYPES.map((type) => [type, type])),
  ...Object.fromEntries(
    ROUTE_TYPES.map((type) => [`${type.charAt(0).toLowerCase()}${type.slice(1)}`, type]),
  ),
  AnthropicTokenCount: "TokenCount",
  anthropicTokenCount: "TokenCount",
};

/** The route type that a word means. */
export function routeTypeOf(word: string): RouteType {
  return typeWords[word] ?? "Passthrough";
}

const messages = list(
  object(
    {
      role: shortText("Who says it: `system`, `user`, `assistant`."),
      content: anyText({ maxLength: 65_536, description: "What is said." }),
    },
    { required: ["role", "content"] },
  ),
  { maxItems: 64 },
);

/** `PromptCachingConfig`. */
export function promptCaching() {
  return object(
    {
      cacheSystem: boolean("Whether system prompts are cached.", { default: true }),
      cacheMessages: boolean("Whether all messages but the last are cached.", { default: true }),
      cacheTools: boolean("Whether definitions of tools are cached.", { default: false }),
      minTokens: integer(
        "From how many tokens on: 1.3 for each word.",
        0,
        Number.MAX_SAFE_INTEGER,
        { default: 1024 },
      ),
    },
    { description: "What of prompts Bedrock caches (Claude from 3 on, and Nova)." },
  );
}

/** What is cached, complete. */
export function readPromptCaching({
  cacheSystem: system = true,
  cacheMessages: history = true,
  cacheTools: tools = false,
  minTokens = 1024,
}: Infer<ReturnType<typeof promptCaching>>): PromptCaching {
  return { system, messages: history, tools, minTokens };
}

/** Fields of requests that the configuration gives. */
export const requestFieldMaps = {
  defaults: map(json, {
    maxProperties: 64,
    description: "Values of fields of the request's JSON that it does not have.",
  }),
  overrides: map(json, {
    maxProperties: 64,
    description: "Values of fields of the request's JSON, in the place of its own.",
  }),
};

/** Fields of requests that expressions make. */
export const transformationsSchema = expressionsSchema(
  "Fields of the request's JSON that CEL expressions make, in the place of its own; they read `llmRequest`, its JSON with the `overrides`. One that fails takes its field away.",
);

/** `ai` among the policies of a file: what becomes of requests to models. */
export function llmPoliciesSchema() {
  return object(
    {
      routes: map(choice("What is spoken there.", Object.keys(typeWords)), {
        maxProperties: 64,
        description:
          "Which paths carry what, by the end of the path; the longest one counts, `*` is every other. `Completions` everywhere by default.",
      }),
      ...requestFieldMaps,
      modelAliases: map(shortText("The provider's name of the model."), {
        maxProperties: 64,
        propertyNames: MODEL_PATTERN,
        description:
          "Names of models that clients may use, with at most one `*`, at the start or the end.",
      }),
      prompts: object(
        {
          prepend: { ...messages, description: "Messages before those of the request." },
          append: { ...messages, description: "Messages after those of the request." },
        },
        { minProperties: 1, description: "Messages that every prompt gets." },
      ),
      providerHeader: boolean("Whether responses name the provider, in `x-llm-provider`.", {
        default: true,
      }),
      streamKeepAlive: duration(
        "After how much silence a client of a stream gets a comment, or a ping, so that nobody between takes the connection for dead.",
        { default: "15s", minimumDuration: "100ms" },
      ),
      promptGuard: promptGuardSchema(),
      promptCaching: promptCaching(),
      transformations: transformationsSchema,
      finalTransformations: unsupportedBut(
        "changes to requests behind their translation",
        "write `transformations`: they change a request before, and its fields are translated as the others are",
      ),
    },
    { minProperties: 1, description: "Requests to models (`ai` backends)." },
  );
}

/** `ai` of policies as its schema lets it through. */
export type LlmPoliciesValue = Infer<ReturnType<typeof llmPoliciesSchema>>;
