import type { Exchange } from "../../http/exchange.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { AddedFields } from "../../http/http1/fields.ts";
import type { ErrorFormat, ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { forwardedHeaders } from "./call-headers.ts";
import type { ChatCall } from "./chat-call.ts";
import type { ReceivedHead } from "./received-head.ts";
import type { ResponseGuard } from "./response-guard.ts";
import type { ResponseRecording } from "./response-recording.ts";
import type { LlmTarget } from "./target.ts";

/** Context of one attempt. */
export interface AttemptContext {
  readonly exchange: Exchange;
  readonly call: ChatCall;
  readonly target: LlmTarget;
  readonly model: string;
  /** Headers that the gateway adds to every response. */
  readonly headers: AddedFields;
  /** Maximum duration until the end of the response, in milliseconds; `undefined` if there is no limit. */
  readonly timeout: number | undefined;
  /** Error format of the client. */
  readonly errors: ErrorFormat;
  /** Guard of the response; `undefined` if there is no guard. */
  readonly guard: ResponseGuard | undefined;
  /** Records the response for a cache; `undefined` if it is not cached. */
  readonly recording?: ResponseRecording | undefined;
  /** Milliseconds of silence after which the client of a stream is sent a ping; `undefined` to send none. */
  readonly keepAlive: number | undefined;
  /** Called once, before the client has the end of its response, because the access log is written then. */
  readonly settle: (outcome: AttemptOutcome) => void;
}

/** Transfers a provider's response to the client. */
export interface Transfer {
  /** Returns false if no more data is wanted for now. */
  push(chunk: Buffer): boolean;
  /** Ends the response. */
  end(): void;
  /** Facts of the response that are known so far. */
  readonly facts: ResponseFacts;
  /** Approximate number of tokens received, for providers that do not report them. */
  readonly pieces: number;
  /** Stops timers, so that nothing more is sent to the client. */
  stop(): void;
  /** Ends a partially sent response with an error. */
  abortWith(error: LlmError): void;
}

/** The attempt that a response belongs to. */
export interface TransferOwner {
  readonly context: AttemptContext;
  /** Whether the outcome has been reported. */
  readonly isOver: boolean;
  /** Whether a guard of the response has rejected it. */
  readonly isRejected: boolean;
  /** Records that the first content for the client has arrived. */
  contentBegan(): void;
  /** Passes on whether the client accepts more data for now. A slow client slows down the provider. */
  keepPace(isReady: boolean): boolean;
  /** Lets the provider continue. */
  resume(): void;
  /** Aborts the request to the provider. */
  abort(): void;
  /** Reports that the client has the response, or the part of it that exists. */
  respond(facts: ResponseFacts, error?: LlmError): void;
  /** Responds with a guard's error instead of a response that the provider completed. */
  reject(error: LlmError, facts: ResponseFacts): void;
  /** `isFromProvider`: the provider reported the error. */
  fail(error: LlmError, mayTryNext: boolean, isFromProvider?: boolean): void;
}

/** Returns the headers for a response that is forwarded. */
export function receivedHeaders(head: ReceivedHead, { headers }: AttemptContext): string[] {
  const passed = endToEnd(head.headers, "");
  passed.push(...headers.list);
  return passed;
}

/** Returns the headers for a response whose body the gateway creates. */
export function ownHeaders(
  type: string,
  head: ReceivedHead,
  { target, headers, errors }: AttemptContext,
): string[] {
  const forwarded = forwardedHeaders(head.headers, target.provider, errors);
  return [...forwarded, "content-type", type, ...headers.list];
}
