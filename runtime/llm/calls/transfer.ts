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
import type { LlmTarget } from "./target.ts";

/** What one attempt is about. */
export interface AttemptContext {
  readonly exchange: Exchange;
  readonly call: ChatCall;
  readonly target: LlmTarget;
  readonly model: string;
  /** What every response says beside what the provider does. */
  readonly headers: AddedFields;
  /** Milliseconds to the end of its response; undefined: no limit. */
  readonly timeout: number | undefined;
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** What guards the texts of the response; undefined: nothing does. */
  readonly guard: ResponseGuard | undefined;
  /** Milliseconds of silence after which the client of a stream gets a sign of life; undefined: it gets none. */
  readonly keepAlive: number | undefined;
  /** Called once, before the client has the end of its response: the access log is written then. */
  readonly settle: (outcome: AttemptOutcome) => void;
}

/** The way of a provider's response to the client. */
export interface Transfer {
  /** False: nothing more is wanted for now. */
  push(chunk: Buffer): boolean;
  /** There is no more of it. */
  end(): void;
  /** What is known of it before its end. */
  readonly facts: ResponseFacts;
  /** About how many tokens of it came, where the provider says nothing of them. */
  readonly pieces: number;
  /** Nothing goes to the client by itself any more. */
  stop(): void;
  /** The client has a part of it, and gets this as its end. */
  breakOff(error: LlmError): void;
}

/** The attempt that a response came of. */
export interface TransferOwner {
  readonly context: AttemptContext;
  /** What comes of it has been told. */
  readonly isOver: boolean;
  /** A guard of the response wants the client to have nothing of it. */
  readonly isRejected: boolean;
  /** The first text for the client is there. */
  contentBegan(): void;
  /** Whether the client takes more for now: one that does not holds the provider up. */
  keepPace(isReady: boolean): boolean;
  /** The provider may go on. */
  resume(): void;
  /** The provider's part is over. */
  abort(): void;
  /** The client has the response, or what there is of it. */
  respond(facts: ResponseFacts, error?: LlmError): void;
  /** The client gets nothing of what the provider was paid for. */
  reject(error: LlmError, facts: ResponseFacts): void;
  /** `isSaid`: by the provider. */
  fail(error: LlmError, mayTryNext: boolean, isSaid?: boolean): void;
}

/** The headers of a response that is the provider's own. */
export function receivedHeaders(head: ReceivedHead, { headers }: AttemptContext): string[] {
  const passed = endToEnd(head.headers, "");
  passed.push(...headers.list);
  return passed;
}

/** Those of one whose body is made here. */
export function ownHeaders(
  type: string,
  head: ReceivedHead,
  { target, headers }: AttemptContext,
): string[] {
  const forwarded = forwardedHeaders(head.headers, target.provider);
  return [...forwarded, "content-type", type, ...headers.list];
}
