import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";

/** How one request to a provider ended. */
export type AttemptOutcome =
  /** The client has its response, whole or broken off with an error of its format. */
  | {
      readonly kind: "responded";
      readonly facts: ResponseFacts;
      readonly head: ProviderHead;
      /** Undefined: the response is complete. */
      readonly error: LlmError | undefined;
      /** It took too long because its client did. */
      readonly isOfClient: boolean;
      /** When its first content came, in milliseconds of the monotonic clock; undefined: it had none. */
      readonly firstContent: number | undefined;
      /** How many pieces of a stream had content: about a token each; of a whole without a word on tokens a quarter of its bytes. */
      readonly pieces: number;
    }
  /** The client has nothing yet. */
  | {
      readonly kind: "failed";
      readonly error: LlmError;
      /** The provider said so; else the gateway says it of the provider. */
      readonly isSaid: boolean;
      /** Undefined: the provider did not respond. */
      readonly head: ProviderHead | undefined;
      /** Another provider may do better. */
      readonly mayTryNext: boolean;
    }
  /** The client is gone. */
  | { readonly kind: "abandoned"; readonly facts: ResponseFacts; readonly pieces: number };

/** The head of a provider's response; `headers` is a flat list. */
export interface ProviderHead {
  readonly status: number;
  readonly headers: readonly string[];
}
