import { type RouteType, routeTypes } from "../../model/llm-policies.ts";
import {
  anyText,
  boolean,
  choice,
  type Infer,
  json,
  list,
  map,
  object,
  shortText,
  unsupported,
} from "../../schema/schema.ts";

/** The words for route types: those of the specification, and how files of the reference spell them. */
const typeWords: Readonly<Record<string, RouteType>> = {
  ...Object.fromEntries(routeTypes.map((type) => [type, type])),
  ...Object.fromEntries(
    routeTypes.map((type) => [`${type.charAt(0).toLowerCase()}${type.slice(1)}`, type]),
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

/** `ai` among the policies of a file: what becomes of requests to models. */
export function llmPoliciesSchema() {
  return object(
    {
      routes: map(choice("What is spoken there.", Object.keys(typeWords)), {
        maxProperties: 64,
        description:
          "Which paths carry what, by the end of the path; the longest one counts, `*` is every other. `Completions` everywhere by default.",
      }),
      defaults: map(json, {
        maxProperties: 64,
        description: "Values of fields of the request's JSON that it does not have.",
      }),
      overrides: map(json, {
        maxProperties: 64,
        description: "Values of fields of the request's JSON, in the place of its own.",
      }),
      modelAliases: map(shortText("The provider's name of the model."), {
        maxProperties: 64,
        description: "Names of models that clients may use.",
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
      promptGuard: unsupported("prompt guards"),
      promptCaching: unsupported("prompt caching"),
      transformations: unsupported("transformations of LLM requests"),
      finalTransformations: unsupported("transformations of LLM requests"),
    },
    { minProperties: 1, description: "Requests to models (`ai` backends)." },
  );
}

/** `ai` of policies as its schema lets it through. */
export type LlmPoliciesValue = Infer<ReturnType<typeof llmPoliciesSchema>>;
