import type {
  ReasoningBlock,
  RedactedReasoningBlock,
  TextBlock,
  ToolCallBlock,
} from "./content.ts";
import type { Usage } from "./usage.ts";

/** A whole completion, whatever format it came in. */
export interface ChatResponse {
  /** The provider's; undefined: it gives none. */
  readonly id: string | undefined;
  readonly model: string;
  readonly blocks: readonly ResponseBlock[];
  readonly stop: StopReason;
  /** The text that ended it, when the provider says which. */
  readonly stopSequence: string | undefined;
  /** Undefined: the provider does not say. */
  readonly usage: Usage | undefined;
}

/** What a completion is made of. */
export type ResponseBlock = TextBlock | ToolCallBlock | ReasoningBlock | RedactedReasoningBlock;

/** Why a model stopped. `pause`: the provider wants the turn back to go on. */
export type StopReason = "end" | "stop-sequence" | "length" | "tool-calls" | "filtered" | "pause";
