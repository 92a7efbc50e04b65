import type {
  ReasoningBlock,
  RedactedReasoningBlock,
  TextBlock,
  ToolCallBlock,
} from "./content.ts";
import type { HostedBlock } from "./hosted-tools.ts";
import type { Usage } from "./usage.ts";
import type { SearchBlock } from "./web-search.ts";

/** A whole completion, independent of formats. */
export interface ChatResponse {
  /** The provider's id; `undefined` if it sends no id. */
  readonly id: string | undefined;
  readonly model: string;
  readonly blocks: readonly ResponseBlock[];
  readonly stop: StopReason;
  /** The stop sequence that ended it, if the provider reports it. */
  readonly stopSequence: string | undefined;
  /** `undefined` if the provider does not report it. */
  readonly usage: Usage | undefined;
}

/** Content of a completion. */
export type ResponseBlock =
  | TextBlock
  | ToolCallBlock
  | ReasoningBlock
  | RedactedReasoningBlock
  | SearchBlock
  | HostedBlock;

/** Text with which a model, or its provider, refuses. */
export interface RefusalBlock {
  readonly kind: "text";
  readonly text: string;
  readonly isRefusal: true;
}

/** Reason why a model stopped. `pause`: the provider expects the turn back to continue. */
export type StopReason = "end" | "stop-sequence" | "length" | "tool-calls" | "filtered" | "pause";
