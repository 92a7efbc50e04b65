import type { JsonObject } from "../../cel/variables.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import type { JsonBody } from "../../json/json-body.ts";
import type { JsonSelection } from "../../json/select-json.ts";
import type { FeatureSupport } from "./features.ts";
import type { LlmError } from "./llm-error.ts";
import type { ChatRequest } from "./request.ts";
import type { ChatResponse } from "./response.ts";
import type { StreamEvent } from "./stream-event.ts";
import type { Usage } from "./usage.ts";

/** The formats that clients and providers speak. */
export type LlmFormatName =
  | "completions"
  | "messages"
  | "responses"
  | "converse"
  | "generateContent"
  | "embeddings"
  | "bedrockInvoke"
  | "bedrockCount"
  | "vertexPredict"
  | "tokenCount"
  | "realtime";

/** How errors are written in a format. */
export interface ErrorFormat {
  /** The JSON body of a response. */
  errorBody(error: LlmError): string;
  /** The end of a stream that failed after it had begun. */
  errorEvent(error: LlmError, sent: SentStream): string;
}

/** What the client has of a stream. */
export interface SentStream {
  /** How many events. */
  readonly events: number;
  readonly facts: ResponseFacts;
}

/** A format that clients speak, for a provider that speaks another one. */
export interface ClientFormat extends ErrorFormat {
  readonly name: LlmFormatName;
  /** Reads a request. Throws LlmRefusal with the field that is wrong, or that no other format can say. */
  readRequest(body: JsonObject): ChatRequest;
  /** The JSON body of a whole response. */
  writeResponse(response: ChatResponse, request: AskedRequest): string;
  /** Writes the events of one stream. */
  openStream(request: AskedRequest): StreamWriter;
}

/** What the writer of a response knows of its request. */
export interface AskedRequest {
  /** The client's body. */
  readonly body: JsonObject;
  /** Of the request. */
  readonly model: string;
}

/** Writes one stream: the text of each event as the client reads it; empty when it has nothing to say by it. */
export interface StreamWriter {
  write(event: StreamEvent): string;
}

/** A format that a provider speaks, for clients that speak another one. */
export interface UpstreamFormat {
  readonly name: LlmFormatName;
  /** What becomes of what not every format can say. */
  readonly fates: FeatureSupport;
  /** The names of tools that the provider takes: others get short ones on the way to it. */
  readonly toolNames: RegExp;
  /**
   * The JSON body for the provider; `headers`: the client's, where bodies say what clients say there. Throws LlmRefusal
   * when the provider cannot be asked for that.
   */
  writeRequest(request: ChatRequest, dialect: Dialect, headers: HeaderList): string;
  /** Reads a whole response. Throws when it has another shape. */
  readResponse(body: JsonObject): ChatResponse;
  /** Reads one stream; `limit`: the most bytes of one event. */
  openStream(limit: number): StreamReader;
  /** What the provider says went wrong. `body` may be anything. */
  readError(status: number, body: string, headers: HeaderList): LlmError;
}

/** How servers of one format differ: what a provider is known to want. */
export interface Dialect {
  /** What messages to clients call the provider. */
  readonly provider: string;
  /** The most tokens of a completion when the client sets none, where the format requires a number. */
  readonly defaultMaxTokens?: number;
  /** The field of Completions that says so; `max_completion_tokens` unless given. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** What of a prompt the configuration wants cached, where the format has marks for it. */
  readonly caching?: PromptCaching;
  /** The guardrail of Bedrock that every request passes. */
  readonly guardrail?: { readonly identifier: string; readonly version: string };
}

/** Which parts of prompts are cached by the configuration's wish. */
export interface PromptCaching {
  readonly system: boolean;
  readonly messages: boolean;
  readonly tools: boolean;
  /** Not below this estimate: 1.3 for each word. */
  readonly minTokens: number;
}

/** Reads one stream of a provider. */
export interface StreamReader {
  /** The events that a piece of it completes; an `error` event when it has another shape. */
  push(chunk: Buffer): readonly StreamEvent[];
  /** The provider has closed the stream: what is left to say; an `error` when it was cut off. */
  end(): readonly StreamEvent[];
}

/** A format that client and provider both speak: bytes pass through, and are looked at. */
export interface NativeFormat extends ErrorFormat {
  readonly name: LlmFormatName;
  /** What of a whole response `readResponse` looks at: the rest is not parsed. */
  readonly reads: JsonSelection;
  /** Tokens, model and id of a whole response. */
  readResponse(body: JsonObject): ResponseFacts;
  /** Changes what the gateway needs to be otherwise in a request. */
  adapt(body: JsonBody): void;
  /** Looks at one stream. */
  watchStream(request: AskedRequest): StreamWatcher;
  readError(status: number, body: string, headers: HeaderList): LlmError;
}

/** What a response says beside its content. */
export interface ResponseFacts {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly finish?: string | undefined;
  /** Tokens of a prompt that was counted and not completed. */
  readonly counted?: number | undefined;
}

/** Looks at the events of a stream as they pass. */
export interface StreamWatcher {
  /** What has been seen so far. */
  readonly facts: ResponseFacts;
  /** Whether the stream may be closed now, without an end mark. */
  readonly hasEnded: boolean;
  /**
   * `content`: no other provider can take over after it; `other`: it passes; `hidden`: the client did not ask for it;
   * `end`: the end mark; an error: the provider failed.
   */
  see(event: Buffer): "content" | "other" | "hidden" | "end" | LlmError;
}
