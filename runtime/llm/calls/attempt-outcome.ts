import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";

/** Outcome of one request to a provider. */
export type AttemptOutcome =
  /** The client has its response, complete or aborted with an error in its format. */
  | {
      readonly kind: "responded";
      readonly facts: ResponseFacts;
      readonly head: ProviderHead;
      /** `undefined` if the response is complete. */
      readonly error: LlmError | undefined;
      /** Whether it took too long because its client read slowly. */
      readonly isClientSlow: boolean;
      /** Time of the first content, in milliseconds of the monotonic clock; `undefined` if there was no content. */
      readonly firstContent: number | undefined;
      /**
       * Number of pieces with content of a stream, each about a token. For whole responses without token counts: a quarter
       * of their bytes.
       */
      readonly pieces: number;
    }
  /** The client has not received anything yet. */
  | {
      readonly kind: "failed";
      readonly error: LlmError;
      /** Whether the error comes from the provider, rather than from the gateway. */
      readonly isFromProvider: boolean;
      /** `undefined` if the provider did not respond. */
      readonly head: ProviderHead | undefined;
      /** Whether another provider may succeed. */
      readonly mayTryNext: boolean;
    }
  /** The client has disconnected. */
  | { readonly kind: "abandoned"; readonly facts: ResponseFacts; readonly pieces: number };

/** Head of a provider's response; `headers` is a flat list. */
export interface ProviderHead {
  readonly status: number;
  readonly headers: readonly string[];
}
