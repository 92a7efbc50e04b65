import { type PromptCachingConfig, ROUTE_TYPES, type RouteType } from "../../model/llm-policies.ts";
import {
  anyText,
  boolean,
  choice,
  duration,
  type Infer,
  inPhase,
  integer,
  json,
  list,
  map,
  object,
  shortText,
} from "../../schema/schema.ts";
import { bothForms, formFields, type TwoForms } from "../../schema/two-forms.ts";
import { expressionsSchema } from "../parts/named-expressions.ts";
import { promptGuardSchema } from "./guard-file-form.ts";
import { MODEL_PATTERN } from "./model-pattern.ts";
import { responseCacheSchema } from "./response-cache.ts";

/** Route types by name: those of the specification, and the spellings of the reference's files. */
const typeWords: Readonly<Record<string, RouteType>> = {
  ...Object.fromEntries(ROUTE_TYPES.map((type) => [type, type])),
  ...Object.fromEntries(
    ROUTE_TYPES.map((type) => [`${type.charAt(0).toLowerCase()}${type.slice(1)}`, type]),
  ),
  AnthropicTokenCount: "TokenCount",
  anthropicTokenCount: "TokenCount",
  GeminiCountTokens: "ContentTokenCount",
  geminiCountTokens: "ContentTokenCount",
  Detect: "Passthrough",
  detect: "Passthrough",
};

/** Names of route types in manifests, which begin with a capital. */
export const ROUTE_WORDS: readonly string[] = Object.keys(typeWords).filter((word) =>
  /^[A-Z]/.test(word),
);

/** Returns the route type for its name. */
export function routeTypeOf(word: string): RouteType {
  return typeWords[word] ?? "Passthrough";
}

const messageFields = {
  role: bothForms(shortText("Role of the message: `system`, `user`, `assistant`."), {
    manifest: {
      description: "Role of the message: `SYSTEM`, `USER`, or another one that the provider knows.",
    },
  }),
  content: bothForms(anyText({ description: "Content of the message." }), {
    file: { maxLength: 65_536 },
    manifest: { minLength: 1 },
  }),
};

/** Returns the fields of messages that are added to prompts, in a form. */
export function addedMessages(form: keyof TwoForms, limits: { readonly maxItems?: number }) {
  const message = object(formFields(form, messageFields), { required: ["role", "content"] });
  const messages = (description: string) => list(message, { ...limits, description });
  return {
    prepend: messages("Messages added before those of the request."),
    append: messages("Messages added after those of the request."),
  };
}

/** Description of the messages that are added to prompts. */
export const PROMPTS = "Messages added to every prompt.";

/** Returns the schema of `PromptCachingConfig`. */
export function promptCaching() {
  return object(
    {
      cacheSystem: boolean("Whether to cache system prompts.", { default: true }),
      cacheMessages: boolean("Whether to cache all messages except the last.", { default: true }),
      cacheTools: boolean("Whether to cache tool definitions.", { default: false }),
      minTokens: integer(
        "Minimum number of tokens of a cached prompt, estimated as 1.3 per word, or per character of a script without spaces.",
        0,
        Number.MAX_SAFE_INTEGER,
        { default: 1024 },
      ),
      cacheMessageOffset: integer(
        "Number of messages before the last one that are not cached either, such as those that a client changes later. The first message is cached in any case.",
        0,
        100_000,
        { default: 0 },
      ),
      affinity: choice(
        "Which requests go to the same one of several providers while it is healthy: `prefix` those with the same tools, system prompt and first message, `session` those of one session of a client (`x-claude-code-session-id`, `session_id`, `prompt_cache_key` ...), otherwise by prefix.",
        ["none", "prefix", "session"],
        { default: "none" },
      ),
    },
    {
      description:
        "Parts of prompts that Anthropic and Bedrock cache (Claude 3 and later, and Nova), and the choice of a provider whose cache has them.",
    },
  );
}

/** Schema of the response to fields that a provider does not support. */
export const unsupportedSchema = choice(
  "Response to a request with fields that the provider does not support, if it is translated: `reject` answers with 400 and names the field, `drop` leaves the fields out and names them in the response header `x-llm-dropped` and in the log. Content of messages is never left out.",
  ["reject", "drop"],
  { default: "reject" },
);

/** Fills in the defaults of prompt caching. */
export function readPromptCaching({
  cacheSystem: system = true,
  cacheMessages: history = true,
  cacheTools: tools = false,
  minTokens = 1024,
  cacheMessageOffset: uncached = 0,
  affinity = "none",
}: Infer<ReturnType<typeof promptCaching>>): PromptCachingConfig {
  const offset = uncached > 0 && { uncached };
  return { system, messages: history, tools, minTokens, ...offset, affinity };
}

/** Schema of other names of models. */
export const modelAliases = map(shortText("The provider's name of the model."), {
  maxProperties: 64,
  propertyNames: MODEL_PATTERN,
  description:
    "Names of models that clients can use (at most one `*`, at the start or end), each with the provider's name of the model.",
});

/** Descriptions of the request fields that the configuration sets: maps in files, lists in manifests. */
export const REQUEST_FIELDS = {
  defaults: "Values of fields that the request's JSON does not have.",
  overrides: "Values of fields that override those of the request's JSON.",
  transformations:
    "Fields of the request's JSON computed by CEL expressions, which read `llmRequest`, the JSON with `overrides` applied. If one fails, its field is removed.",
  finalTransformations:
    "Fields of the JSON in the provider's format, computed by CEL expressions after requests were translated. They read that JSON as `llmRequest`. If one fails, its field is removed.",
};

/** Request fields that the configuration sets. */
export const requestFieldMaps = {
  defaults: map(json, { maxProperties: 64, description: REQUEST_FIELDS.defaults }),
  overrides: map(json, { maxProperties: 64, description: REQUEST_FIELDS.overrides }),
};

/** Request fields computed by expressions. */
export const transformationsSchema = inPhase(
  "llm",
  expressionsSchema(REQUEST_FIELDS.transformations),
);

/** Fields of requests in the provider's format, computed by expressions. */
export const finalTransformationsSchema = inPhase(
  "llm",
  expressionsSchema(REQUEST_FIELDS.finalTransformations),
);

/** Returns the schema of `ai` among the policies of a file. */
export function llmPoliciesSchema() {
  return object(
    {
      routes: map(choice("Type of traffic.", Object.keys(typeWords)), {
        maxProperties: 64,
        description:
          "Type of traffic by suffix of the path. The longest suffix applies; `*` is any other path. By default all paths are `Completions`.",
      }),
      ...requestFieldMaps,
      modelAliases,
      prompts: object(addedMessages("file", { maxItems: 64 }), {
        minProperties: 1,
        description: PROMPTS,
      }),
      providerHeader: boolean("Whether responses name the provider, in `x-llm-provider`.", {
        default: true,
      }),
      streamKeepAlive: duration(
        "Time without data after which a streaming client gets a comment or a ping, so that intermediaries do not close an idle connection.",
        { default: "15s", minimumDuration: "100ms" },
      ),
      promptGuard: promptGuardSchema(),
      promptCaching: promptCaching(),
      cache: responseCacheSchema.file,
      unsupported: unsupportedSchema,
      transformations: transformationsSchema,
      finalTransformations: finalTransformationsSchema,
    },
    { minProperties: 1, description: "Policies for requests to LLMs (`ai` backends)." },
  );
}

/** Value of `ai` among the policies, as validated by its schema. */
export type LlmPoliciesValue = Infer<ReturnType<typeof llmPoliciesSchema>>;
