import type { PromptCaching } from "../../runtime/llm/chat/formats.ts";
import type { PromptMessages } from "../../runtime/llm/formats/prompt-messages.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "./expressions.ts";
import type { Json } from "./json.ts";
import type { PromptGuardConfig } from "./prompt-guards.ts";

/** The kinds of traffic of an LLM route, as the specification names them. */
export const ROUTE_TYPES = [
  "Completions",
  "Messages",
  "Responses",
  "Embeddings",
  "TokenCount",
  "Models",
  "Realtime",
  "Passthrough",
] as const;

/** The kind of traffic of a path. */
export type RouteType = (typeof ROUTE_TYPES)[number];

/** What becomes of requests to models, as configured: each part from the most specific place that has it. */
export interface LlmPolicies {
  /** Which paths carry what: a suffix of the path, or `*`. */
  readonly routes?: Configured<Readonly<Record<string, RouteType>>>;
  /** Values of fields that the request does not have. */
  readonly defaults?: Configured<Readonly<Record<string, Json>>>;
  /** Values in the place of the request's. */
  readonly overrides?: Configured<Readonly<Record<string, Json>>>;
  /** Fields of requests that expressions make; one that fails goes. */
  readonly transformations?: Configured<readonly NamedExpression[]>;
  /** Whether responses name the provider; true when absent. */
  readonly providerHeader?: Configured<boolean>;
  /** Milliseconds of silence after which a client of a stream gets a sign of life; 15 seconds when absent. */
  readonly streamKeepAlive?: Configured<number | undefined>;
  readonly modelAliases?: Configured<Readonly<Record<string, string>>>;
  readonly prompts?: Configured<Required<PromptMessages>>;
  readonly promptGuard?: Configured<PromptGuardConfig>;
  readonly promptCaching?: Configured<PromptCaching>;
  readonly origin: Origin;
}

/** What becomes of requests as configured; guards, which may be asked with keys, are what they were resolved to. */
export type ProviderPolicies = Omit<LlmPolicies, "promptGuard">;

/** A part of the configuration, and where it stands. */
export interface Configured<Value> {
  readonly value: Value;
  readonly origin: Origin;
}
