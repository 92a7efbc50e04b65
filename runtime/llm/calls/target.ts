import type { Exchange } from "../../http/exchange.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import type { JsonBody } from "../../json/json-body.ts";
import type { ResponseCache } from "../cache/response-cache.ts";
import type { OtherContent, ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import type { Provider } from "../providers/provider.ts";
import type { ChatCall } from "./chat-call.ts";
import type { FinalChange } from "./final-fields.ts";
import type { FurtherResponses } from "./further-responses.ts";
import type { CallTransform, TransformedRequest } from "./transform-fields.ts";

/**
 * Returns the providers of a call in the order in which they are tried; `undefined` if the model does not exist. `request` is
 * absent if it is not read.
 */
export type TargetChoice<Target extends AnyTarget = LlmTarget> = (
  model: string | undefined,
  request?: TransformedRequest,
) => Iterable<Target> | undefined;

/** Returns the same, depending on conditions. Throws LlmRefusal if no condition holds. */
export type ConditionalChoice<Target extends AnyTarget = LlmTarget> = (
  model: string | undefined,
  request: TransformedRequest,
) => Iterable<Target> | undefined;

/** Empty list of targets: no provider is called, and the gateway responds itself. */
export const unasked: readonly LlmTarget[] = [];

/** A provider of a call. */
export interface AnyTarget {
  readonly provider: Provider;
  /** Returns the key of requests that go to the same provider of a group; absent if health alone decides. */
  readonly affinity?: (request: TransformedRequest) => string;
}

/** Settings of a target that do not depend on its format. */
export interface TargetSettings extends AnyTarget {
  readonly path: EndpointPath;
  /** Returns the provider's name of a model; absent: the client's name is used. */
  readonly modelFor?: (model: string) => string;
  /** Guards of requests and responses; absent if there are no guards. */
  readonly guard?: PromptGuard;
  /** Transforms a call with expressions, before it is guarded; absent if there are no expressions. */
  readonly transform?: CallTransform;
  /** Changes the translated body; absent if nothing changes it. */
  readonly finish?: FinalChange;
  /** Cache of responses; absent if each request is sent to the provider. */
  readonly cache?: ResponseCache;
  /** Responses beyond those of the cache; absent if there are none. */
  readonly further?: FurtherResponses;
  /** Providers that may send each other's cached responses; absent: only this one. */
  readonly pool?: string;
  /** Applies the configured edits of the body. */
  readonly prepare?: (body: JsonBody) => void;
}

/** A provider as the target of one route type: translates requests to it, and its responses. */
export interface LlmTarget extends TargetSettings {
  /** Whether provider and client use the same format, so that the client's headers are forwarded. */
  readonly isNative: boolean;
  /** Model to request instead of the client's; absent: the client's. */
  readonly requested?: string;
  /** Whether the provider may ignore that a stream is requested; absent if not. */
  readonly mayIgnoreStream?: true | undefined;
  /** Returns how a response of a content type other than JSON is forwarded; absent if all responses are JSON. */
  contentOf?: ((type: string) => OtherContent | undefined) | undefined;
  /** Returns the Content-Type of requests; absent if it is JSON. */
  typeOf?(exchange: Exchange): string | undefined;
  /** Whether a response of the provider's format is changed, so that it is read whole first; absent if none is. */
  changesResponse?(call: ChatCall): boolean;
  /** Returns headers that the body of a call requires, as a flat list; absent if none. Called after `requestBody`. */
  headersFor?(call: ChatCall): readonly string[];
  /** Returns the facts of a response that is not read. */
  unreadFacts?(call: ChatCall): ResponseFacts;
  /** Returns the target for a model and a call, if the format depends on them. */
  forModel?(model: string, call: ChatCall): LlmTarget;
  /** Returns the body for the provider. Throws LlmRefusal for requests that the provider does not support. */
  requestBody(call: ChatCall, body: JsonBody, exchange: Exchange): string | Uint8Array;
  /** Reads an error of the provider. */
  readError(status: number, body: string, headers: HeaderList): LlmError;
  /** Converts a whole response. Throws if it has another shape. */
  readWhole(received: ReceivedWhole, call: ChatCall, model: string): WholeResponse;
  openStream(call: ChatCall, model: string): StreamRelay;
}

/** Path and query of requests; may depend on the model. */
export type EndpointPath = string | ((model: string, isStream: boolean) => string);

/** A whole response of a provider. */
export interface ReceivedWhole {
  readonly bytes: Buffer;
  readonly text: string;
  /** Flat list. */
  readonly headers: readonly string[];
}

/** A whole response for the client. */
export interface WholeResponse {
  /** `undefined` to forward the provider's own bytes. */
  readonly text: string | undefined;
  readonly facts: ResponseFacts;
  /** Problem of the response, for its client and the log; `undefined` if there is none. */
  readonly warning?: string | undefined;
  /** Names of the provider's fields that the client's format does not express; `undefined` if there are none. */
  readonly lost?: string | undefined;
}

/** Converts one stream of a provider for the client. */
export interface StreamRelay {
  readonly facts: ResponseFacts;
  /** Problem of a stream that has ended, for its client and the log; `undefined` if there is none. */
  readonly warning?: string | undefined;
  /** Names of the provider's fields so far that the client's format does not express; `undefined` if there are none. */
  readonly lost?: string | undefined;
  /** JSON of the error that the provider has sent, if it is one of the client's format; `undefined` otherwise. */
  readonly sentError?: string | undefined;
  /** Number of the provider's events with content so far, independent of how they were chunked. */
  readonly pieces: number;
  /** Returns the client's output for a chunk. */
  push(chunk: Buffer): StreamStep;
  /** Returns the client's output when the provider has closed the stream. */
  close(): StreamStep;
  /** Returns the end of the client's stream when it has failed. */
  fail(error: LlmError): string;
  /** Sent to the client while the provider is silent. */
  readonly ping: string;
}
