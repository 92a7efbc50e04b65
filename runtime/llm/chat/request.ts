import type { ContentBlock, TextBlock } from "./content.ts";
import type { Feature } from "./features.ts";

/**
 * A chat request, whatever format it came in: what a format's reader makes of a client's body, and its writer writes for
 * a provider. Only what is translated takes this form; a request in the provider's own format stays as it was sent.
 */
export interface ChatRequest {
  /** As the provider knows it. */
  readonly model: string;
  readonly isStream: boolean;
  /** The system prompt, one block for each message or block of it. */
  readonly system: readonly TextBlock[];
  /** User and assistant in turns: two neighbours never have one role. */
  readonly turns: readonly Turn[];
  readonly tools: readonly ListedTool[];
  readonly toolChoice: ToolChoice | undefined;
  /** False: one call at a time. */
  readonly parallelTools: boolean | undefined;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly seed: number | undefined;
  /** Completions wanted; 1 when undefined. */
  readonly choices: number | undefined;
  readonly stop: readonly string[];
  readonly output: OutputFormat | undefined;
  readonly reasoning: Reasoning | undefined;
  /** The client's user, for the provider's abuse detection. */
  readonly user: string | undefined;
  /** What it asks for that not every format has, and where that stands in the client's body. */
  readonly features: ReadonlyMap<Feature, string>;
}

/** What one side says before the other does. */
export interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: readonly ContentBlock[];
}

/** A tool that the model may call. */
export interface ListedTool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON schema of its input. */
  readonly schema: unknown;
  /** The input has to follow the schema. */
  readonly isStrict: boolean | undefined;
  readonly isCached: boolean;
}

/** Whether the model calls tools, and which. */
export type ToolChoice =
  | { readonly kind: "auto" | "none" | "required" }
  | { readonly kind: "tool"; readonly name: string };

/** What form the completion has to have. */
export type OutputFormat =
  | { readonly kind: "object" }
  | {
      readonly kind: "schema";
      readonly name: string;
      readonly description: string | undefined;
      readonly schema: unknown;
      readonly isStrict: boolean | undefined;
    };

/** How much the model thinks. */
export type Reasoning =
  | { readonly kind: "off" }
  | { readonly kind: "effort"; readonly effort: Effort }
  /** Tokens. */
  | { readonly kind: "budget"; readonly tokens: number };

/** How hard the model thinks, in the words of the formats. */
export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Collects turns: what one side says in several messages is one turn. */
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
