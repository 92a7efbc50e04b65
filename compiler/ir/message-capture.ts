import type { PatternNode } from "../backends/ai/guards.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { SamplingNode } from "./sampling.ts";

/** Messages of calls to models that are exported. */
export interface MessageCaptureNode {
  /** Calls whose messages are exported; `undefined` for all. */
  readonly sampling: SamplingNode | undefined;
  readonly input: boolean;
  readonly output: boolean;
  /** Maximum bytes of each attribute. */
  readonly maxBytes: number;
  /** Patterns whose matches are masked. */
  readonly redact: readonly PatternNode[];
  readonly origin: Origin;
}
