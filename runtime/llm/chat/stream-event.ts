import type { HostedBlock } from "./hosted-tools.ts";
import type { LlmError } from "./llm-error.ts";
import type { StopReason } from "./response.ts";
import type { Usage } from "./usage.ts";
import type { SearchBlock, WebPage } from "./web-search.ts";

/**
 * A piece of a streamed completion. Order: `start`; content; `stop`; `usage` (before or after it; later ones replace earlier
 * ones); `end`. A stream without `end` is incomplete. `error` ends it too.
 */
export type StreamEvent =
  | { readonly kind: "start"; readonly id: string | undefined; readonly model: string }
  /** `isRefusal`: whether the model refuses the request with it. */
  | { readonly kind: "text"; readonly text: string; readonly isRefusal?: true }
  /** A page that the text before cites. */
  | { readonly kind: "citation"; readonly page: WebPage }
  | SearchBlock
  | HostedBlock
  | { readonly kind: "reasoning"; readonly text: string }
  /** Signature of the reasoning before; its pieces belong together. */
  | { readonly kind: "signature"; readonly signature: string }
  | { readonly kind: "redacted-reasoning"; readonly data: string }
  /** `index`: number of the call, from 0. Pieces of several calls may be interleaved. */
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

/** Whether the client gets part of the completion by it, so that no other provider can take over. */
export function isContent({ kind }: StreamEvent): boolean {
  switch (kind) {
    case "text":
    case "citation":
    case "search":
    case "hosted":
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
