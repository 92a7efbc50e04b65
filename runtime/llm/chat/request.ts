import type { JsonObject } from "../../cel/variables.ts";
import type { ContentBlock, TextBlock } from "./content.ts";
import type { Feature } from "./features.ts";
import type { McpConnector, WebFetch } from "./hosted-tools.ts";
import type { WebSearch } from "./web-search.ts";

/**
 * A chat request, independent of formats: read from a client's body, and written for a provider. Only translated requests
 * take this form; a request in the provider's own format stays as it was sent.
 */
export interface ChatRequest {
  /** The provider's name of the model. */
  readonly model: string;
  readonly isStream: boolean;
  /** System prompt, with one block for each of its messages or blocks. */
  readonly system: readonly TextBlock[];
  /** Turns of user and assistant, in alternation. */
  readonly turns: readonly Turn[];
  readonly tools: readonly ListedTool[];
  /** Search of the web that the model may ask for; absent if it may not. */
  readonly webSearch?: WebSearch | undefined;
  /** Pages that the provider fetches for the model; absent if it may not. */
  readonly webFetch?: WebFetch | undefined;
  /** Whether the provider runs programs of the model; absent if it may not. */
  readonly runsCode?: boolean;
  /** MCP servers whose tools the provider calls; absent if there are none. */
  readonly connectors?: readonly McpConnector[];
  readonly toolChoice: ToolChoice | undefined;
  /** Whether the model may call several tools at once. */
  readonly parallelTools: boolean | undefined;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly seed: number | undefined;
  /** Number of requested completions; 1 if `undefined`. */
  readonly choices: number | undefined;
  readonly stop: readonly string[];
  readonly output: OutputFormat | undefined;
  readonly reasoning: Reasoning | undefined;
  /** The client's user, for the provider's abuse detection. */
  readonly user: string | undefined;
  /** Fields that both APIs of OpenAI have, and no other API; absent if the client has none. */
  readonly openai?: JsonObject;
  /** Length of the completion in OpenAI's words; absent if the client sets none. */
  readonly verbosity?: string | undefined;
  /** Traits of the model; absent if they are not known. */
  readonly traits?: ModelTraits;
  /** Features that some formats cannot express, and their paths in the client's body. */
  readonly features: ReadonlyMap<Feature, string>;
}

/** Consecutive messages of one side. */
export interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: readonly ContentBlock[];
}

/** A tool that the model may call. */
export interface ListedTool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON Schema of its input. */
  readonly schema: unknown;
  /** Whether the input must follow the schema. */
  readonly isStrict: boolean | undefined;
  readonly isCached: boolean;
}

/** Whether the model calls tools, and which. */
export type ToolChoice =
  | { readonly kind: "auto" | "none" | "required" }
  | { readonly kind: "tool"; readonly name: string };

/** Required form of the completion. */
export type OutputFormat =
  | { readonly kind: "object" }
  | {
      readonly kind: "schema";
      readonly name: string;
      readonly description: string | undefined;
      readonly schema: unknown;
      readonly isStrict: boolean | undefined;
    };

/** Amount of reasoning. */
export type Reasoning =
  | { readonly kind: "off" }
  | (ShownReasoning & { readonly kind: "effort"; readonly effort: Effort })
  /** Tokens. */
  | (ShownReasoning & { readonly kind: "budget"; readonly tokens: number });

interface ShownReasoning {
  /** Whether the client asks to see it, where providers hide it otherwise. */
  readonly isShown?: boolean;
}

/** Reasoning effort, in the words of the formats. */
export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Parts of requests that a model takes, as a catalogue lists them. */
export interface ModelTraits {
  /** Maximum number of tokens of a completion; absent if it is not known. */
  readonly maxOutput?: number;
  /**
   * `none`: it does not reason; `always`: it does, and takes no amount; `budget`: a number of tokens; `adaptive`: it decides
   * itself, within an effort; `effort`: an effort.
   */
  readonly reasoning?: "none" | "always" | "budget" | "adaptive" | "effort";
  /** Efforts that it takes, ascending; absent if all. */
  readonly efforts?: readonly Effort[];
  /** Whether it takes `temperature`, `top_p` and `top_k`; absent if it does. */
  readonly takesSampling?: boolean;
}

/** Whether the provider runs tools for the model. */
export function hasHostedTools(request: ChatRequest): boolean {
  const { webSearch, webFetch, runsCode, connectors = [] } = request;
  return (
    webSearch !== undefined || webFetch !== undefined || runsCode === true || connectors.length > 0
  );
}

/** Collects turns: consecutive messages of one side become one turn. */
export class Turns {
  readonly #turns: { readonly role: Turn["role"]; readonly blocks: ContentBlock[] }[] = [];

  add(role: Turn["role"], blocks: readonly ContentBlock[]): void {
    const last = this.#turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else this.#turns.push({ role, blocks: [...blocks] });
  }

  get all(): readonly Turn[] {
    return this.#turns;
  }
}
