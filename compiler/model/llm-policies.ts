import type { PromptCaching } from "../../runtime/llm/chat/formats.ts";
import type { PromptMessages } from "../../runtime/llm/formats/prompt-messages.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "./destinations.ts";
import type { NamedExpression } from "./expressions.ts";
import type { Json } from "./json.ts";
import type { PromptGuardConfig } from "./prompt-guards.ts";

/** Types of traffic of an LLM route, as the specification names them. */
export const ROUTE_TYPES = [
  "Completions",
  "Messages",
  "Responses",
  "GenerateContent",
  "Converse",
  "Embeddings",
  "Speech",
  "Transcriptions",
  "Translations",
  "Images",
  "ImageEdits",
  "ImageVariations",
  "Rerank",
  "Moderations",
  "Files",
  "MessageFiles",
  "Batches",
  "MessageBatches",
  "Containers",
  "TokenCount",
  "ContentTokenCount",
  "Models",
  "Usage",
  "Realtime",
  "Passthrough",
] as const;

/** Type of the traffic of a path. */
export type RouteType = (typeof ROUTE_TYPES)[number];

/** Types whose traffic is not a chat: audio, images, rankings and moderations. */
export const SINGLE_TYPES = [
  "Speech",
  "Transcriptions",
  "Translations",
  "Images",
  "ImageEdits",
  "ImageVariations",
  "Rerank",
  "Moderations",
] as const satisfies readonly RouteType[];

/** Types whose traffic concerns objects that providers store for callers. */
export const STORED_TYPES = [
  "Files",
  "MessageFiles",
  "Batches",
  "MessageBatches",
  "Containers",
] as const satisfies readonly RouteType[];

/** Response to a request with fields that the provider does not support. */
export type Unsupported = "reject" | "drop";

/** Policies for requests to models, as configured: each part from the most specific place that sets it. */
export interface LlmPolicies {
  /** Type of traffic by suffix of the path, or `*`. */
  readonly routes?: Configured<Readonly<Record<string, RouteType>>>;
  /** Values for fields that the request does not have. */
  readonly defaults?: Configured<Readonly<Record<string, Json>>>;
  /** Values that replace those of the request. */
  readonly overrides?: Configured<Readonly<Record<string, Json>>>;
  /** Expressions for fields of requests; a field is removed if its expression fails. */
  readonly transformations?: Configured<readonly NamedExpression[]>;
  /** The same for requests in the provider's format. */
  readonly finalTransformations?: Configured<readonly NamedExpression[]>;
  /** Whether responses have a header with the name of the provider; `true` by default. */
  readonly providerHeader?: Configured<boolean>;
  /** Milliseconds of silence after which a stream gets a keep-alive event; 15 seconds by default. */
  readonly streamKeepAlive?: Configured<number | undefined>;
  readonly modelAliases?: Configured<Readonly<Record<string, string>>>;
  readonly prompts?: Configured<Required<PromptMessages>>;
  readonly promptGuard?: Configured<PromptGuardConfig>;
  readonly promptCaching?: Configured<PromptCachingConfig>;
  /** Cache of responses; absent if all requests are sent to providers. */
  readonly cache?: Configured<ResponseCacheConfig>;
  /** Response to requests with fields that the provider does not support; `reject` by default. */
  readonly unsupported?: Configured<Unsupported>;
  readonly origin: Origin;
}

/** Cache of responses, as configured. */
export interface ResponseCacheConfig {
  /** Milliseconds after which a response is not used any more. */
  readonly ttl: number;
  /** Maximum size of all responses, in bytes. */
  readonly maxBytes: number;
  /** Expression for the callers who share responses; `undefined` if nobody shares them. */
  readonly key: { readonly text: string; readonly origin: Origin } | undefined;
  /** Place of the setting that replicas share responses in the store; `undefined` if they do not. */
  readonly shared: Origin | undefined;
  /** Search for similar requests; `undefined` if only equal requests get a cached response. */
  readonly semantic: SimilarRequestsConfig | undefined;
}

/** Search for responses to similar requests, as configured. */
export interface SimilarRequestsConfig {
  /** Model for embeddings. */
  readonly model: string;
  /** Least cosine of two texts that count as similar. */
  readonly threshold: number;
  readonly maxVectors: number;
  /** Path of the API for embeddings at the server. */
  readonly path: string;
  readonly server: DestinationConfig;
  /** Whether the server refuses requests without a key. */
  readonly needsKey: boolean;
  readonly origin: Origin;
}

/** Prompt caching as configured. */
export interface PromptCachingConfig extends PromptCaching {
  /** Which requests go to the same one of several providers, whose cache has their prompts. */
  readonly affinity: CacheAffinity;
}

/** Key of requests that go to the same provider. */
export type CacheAffinity = "none" | "prefix" | "session";

/** Policies for requests to a provider; guards and caches are resolved separately because they need more of the route. */
export type ProviderPolicies = Omit<LlmPolicies, "promptGuard" | "cache">;
/** Fields that apply to all providers of a route. */
export const SHARED_FIELDS = ["routes", "providerHeader", "streamKeepAlive"] as const;

/** A part of the configuration, and its place. */
export interface Configured<Value> {
  readonly value: Value;
  readonly origin: Origin;
}
