import type { JsonObject } from "../../cel/variables.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import type { JsonBody } from "../../json/json-body.ts";
import type { JsonSelection } from "../../json/select-json.ts";
import type { FeatureSupport } from "./features.ts";
import type { FitSchema } from "./fitted-schema.ts";
import type { LlmError, OwnStatuses } from "./llm-error.ts";
import type { ChatRequest } from "./request.ts";
import type { ChatResponse } from "./response.ts";
import type { LostFields, ResponseFields } from "./response-fields.ts";
import type { StreamEvent } from "./stream-event.ts";
import type { Units } from "./units.ts";
import type { Usage } from "./usage.ts";

/** Names of the formats of clients and providers. */
export type LlmFormatName =
  | "completions"
  | "messages"
  | "responses"
  | "converse"
  | "generateContent"
  | "embeddings"
  | "speech"
  | "transcriptions"
  | "images"
  | "rerank"
  | "moderations"
  | "files"
  | "messageFiles"
  | "batches"
  | "messageBatches"
  | "containers"
  | "bedrockInvoke"
  | "bedrockCount"
  | "vertexPredict"
  | "tokenCount"
  | "contentTokenCount"
  | "realtime";

/** Writes errors in a format. */
export interface ErrorFormat {
  /** Returns the JSON body of an error response. */
  errorBody(error: LlmError): string;
  /** Returns the end of a stream that failed after it had started. */
  errorEvent(error: LlmError, sent: SentStream): string;
  /** Header in which its clients read the ID of a request. */
  readonly requestIdHeader: "x-request-id" | "request-id" | "x-amzn-requestid";
  /** Statuses of kinds of errors for which its API has one of its own; absent if there is none. */
  readonly statuses?: OwnStatuses;
  /** Form of its streams; absent for server-sent events. */
  readonly framing?: StreamFraming;
}

/** Form in which a client gets the events of its stream, which are handled as server-sent events. */
export interface StreamFraming {
  readonly contentType: string;
  /** `events`: whole ones, as text. */
  encode(events: readonly (string | Uint8Array)[]): readonly Buffer[];
}

/** The part of a stream that the client has received. */
export interface SentStream {
  /** Number of events. */
  readonly events: number;
  readonly facts: ResponseFacts;
}

/** A client format, for providers with another format. */
export interface ClientFormat extends ErrorFormat {
  readonly name: LlmFormatName;
  /** Reads a request. Throws LlmRefusal with the field that is invalid, or that no other format can express. */
  readRequest(body: JsonObject): ChatRequest;
  /** Returns the JSON body of a whole response. */
  writeResponse(response: ChatResponse, request: OriginalRequest): string;
  /** Opens a writer for the events of one stream. */
  openStream(request: OriginalRequest): StreamWriter;
}

/** The request that a response belongs to. */
export interface OriginalRequest {
  /** The client's body. */
  readonly body: JsonObject;
  /** The requested model. */
  readonly model: string;
  /** Time when it arrived, in milliseconds of the monotonic clock. */
  readonly started: number;
}

/** Writes one stream: returns the client's form of each event; empty if the format has none. */
export interface StreamWriter {
  write(event: StreamEvent): string;
}

/** A provider format, for clients with another format. */
export interface UpstreamFormat {
  readonly name: LlmFormatName;
  /** Support of features that some formats cannot express. */
  readonly support: FeatureSupport;
  /** Converts schemas that the provider enforces; absent if the writer does, or if it takes any. */
  readonly fitSchema?: FitSchema;
  /** Whether the writer converts the schemas of all tools, instead of those that the provider enforces. */
  readonly fitsAllTools?: true;
  /** Names of tools that the provider accepts. Other names are replaced with short ones. */
  readonly toolNames: RegExp;
  /**
   * Returns the JSON body for the provider. `headers` are the client's, because some client headers become body fields.
   * Throws LlmRefusal for requests that the provider does not support.
   */
  writeRequest(request: ChatRequest, dialect: Dialect, headers: HeaderList): string;
  /** Returns headers that a request requires, as a flat list; absent if none does. */
  headersFor?(request: ChatRequest): readonly string[];
  /** Reads a whole response. Throws if it has another shape. */
  readResponse(body: JsonObject): ChatResponse;
  /** Handling of each field of a whole response. */
  readonly responseFields: ResponseFields;
  /** Opens a reader for one stream. `limit`: maximum bytes of one event; `lost`: takes the fields that are not translated. */
  openStream(limit: number, lost?: LostFields): StreamReader;
  /** Reads an error of the provider. `body` may be anything. */
  readError(status: number, body: string, headers: HeaderList): LlmError;
}

/** Differences between servers of one format. */
export interface Dialect {
  /** Name of the provider in messages to clients. */
  readonly provider: string;
  /** Maximum number of tokens of a completion if the client sets none and the format requires a number. */
  readonly defaultMaxTokens?: number;
  /** Name of that field in Completions; `max_completion_tokens` by default. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Parts of prompts to cache, in formats with cache marks. */
  readonly caching?: PromptCaching;
  /** Bedrock guardrail of every request. */
  readonly guardrail?: { readonly identifier: string; readonly version: string };
}

/** Parts of prompts that the configuration wants cached. */
export interface PromptCaching {
  readonly system: boolean;
  readonly messages: boolean;
  readonly tools: boolean;
  /** Minimum size of cached prompts, estimated as 1.3 tokens for each word, or character of a script without spaces. */
  readonly minTokens: number;
  /** Number of messages before the last one that are not cached; absent if all are. */
  readonly uncached?: number;
}

/** Reads one stream of a provider. */
export interface StreamReader {
  /** Returns the events that a chunk completes; an `error` event if it has another shape. */
  push(chunk: Buffer): readonly StreamEvent[];
  /** Returns the last events when the provider has closed the stream; an `error` if the stream is incomplete. */
  end(): readonly StreamEvent[];
}

/** A format that client and provider share: bytes pass through, and are inspected. */
export interface NativeFormat extends ErrorFormat {
  readonly name: LlmFormatName;
  /** Parts of a whole response that `readResponse` reads. The rest is not parsed. */
  readonly reads: JsonSelection;
  /** Reads the tokens, model and id of a whole response. */
  readResponse(body: JsonObject): ResponseFacts;
  /** Whether a provider may ignore that a stream is requested; absent if not. */
  readonly mayIgnoreStream?: true;
  /**
   * Returns how a whole response of a content type other than JSON is forwarded: unread, or as a text; `undefined` if it is
   * invalid. Absent if all responses are JSON.
   */
  contentOf?(type: string): OtherContent | undefined;
  /** Returns what a request is billed for, apart from tokens; absent if its size does not count. */
  unitsOf?(body: JsonObject): Units;
  /** Changes the fields of a request that the gateway depends on. */
  adapt(body: JsonBody): void;
  /** Opens a watcher for one stream. */
  watchStream(request: OriginalRequest): StreamWatcher;
  readError(status: number, body: string, headers: HeaderList): LlmError;
}

/** Content of a response that is not JSON. */
export type OtherContent = "bytes" | "text";

/** Facts of a response apart from its content. */
export interface ResponseFacts {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly finish?: string | undefined;
  /** Billed units other than tokens; absent if there are none. */
  readonly units?: Units | undefined;
  /** Tokens of a prompt that was only counted. */
  readonly counted?: number | undefined;
}

/** Inspects the events of a stream as they pass. */
export interface StreamWatcher {
  /** Facts seen so far. */
  readonly facts: ResponseFacts;
  /** Whether the stream may close now without an end mark. */
  readonly hasEnded: boolean;
  /**
   * Inspects an event. `content`: no other provider can take over after it; `other`: forwarded; `hidden`: not requested by
   * the client; `end`: the end mark; an error: the provider failed.
   */
  see(event: Buffer): "content" | "other" | "hidden" | "end" | LlmError;
}
