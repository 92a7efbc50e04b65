import type { LlmError } from "./llm-error.ts";
import type { StopReason } from "./response.ts";
import type { Usage } from "./usage.ts";

/**
 * A piece of a completion that is still being made. In order: `start`; pieces; `stop`; `usage` (before or after it, each
 * later one in the place of those before); `end`. A stream without `end` was cut off. `error` ends it too.
 */
export type StreamEvent =
  | { readonly kind: "start"; readonly id: string | undefined; readonly model: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Of the reasoning before; pieces of one signature belong together. */
  | { readonly kind: "signature"; readonly signature: string }
  | { readonly kind: "redacted-reasoning"; readonly data: string }
  /** `index`: which call, from 0; the pieces of several may be mixed. */
  | {
      readonly kind: "tool-call";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string | undefined;
    }
  | { readonly kind: "tool-input"; readonly index: number; readonly text: string }
  | {
      readonly kind: "stop";
      readonly reason: StopReason;
      readonly stopSequence: string | undefined;
    }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "ping" }
  | { readonly kind: "error"; readonly error: LlmError }
  | { readonly kind: "end" };

/** Whether the client gets something of the completion by it: after that no other provider can take over. */
export function isContent({ kind }: StreamEvent): boolean {
  switch (kind) {
    case "text":
    case "reasoning":
    case "signature":
    case "redacted-reasoning":
    case "tool-call":
    case "tool-input":
    case "stop":
      return true;
    default:
      return false;
  }
}
