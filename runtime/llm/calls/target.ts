import type { HeaderList } from "../../http/headers/header-list.ts";
import type { JsonBody } from "../../json/json-body.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import type { Provider } from "../providers/provider.ts";
import type { ChatCall } from "./chat-call.ts";
import type { CallTransform, TransformedRequest } from "./transform-fields.ts";

/** The providers of a call in the order in which they are asked; undefined: nobody has this model. */
export type TargetChoice<Target extends AnyTarget = LlmTarget> = (
  model: string | undefined,
) => Iterable<Target> | undefined;

/** The same, where conditions decide on it. Throws LlmRefusal when none of them holds. */
export type ConditionalChoice = (
  model: string | undefined,
  request: TransformedRequest,
) => Iterable<LlmTarget> | undefined;

/** The targets of a call for which nobody is asked: the gateway responds itself. */
export const unasked: readonly LlmTarget[] = [];

/** A provider, with what it is asked. */
export interface AnyTarget {
  readonly provider: Provider;
}

/** What of a target is the configuration's, whatever is spoken. */
export interface TargetSettings extends AnyTarget {
  readonly path: EndpointPath;
  /** The name of a model at the provider; absent: the client's. */
  readonly modelFor?: (model: string) => string;
  /** What guards requests and responses; absent: nothing does. */
  readonly guard?: PromptGuard;
  /** What expressions make of a call, before anything guards it; absent: nothing. */
  readonly transform?: CallTransform;
  /** Edits of the body that the configuration asks for. */
  readonly prepare?: (body: JsonBody) => void;
}

/** A provider as the end of one route type: what it is asked, and what the client gets. */
export interface LlmTarget extends TargetSettings {
  /** True: provider and client speak one format, and headers are the client's own. */
  readonly isNative: boolean;
  /** The model that it is asked for in the place of the client's; absent: the client's. */
  readonly requested?: string;
  /** The target for a model, where what is spoken depends on it. */
  forModel?(model: string): LlmTarget;
  /** The body for the provider. Throws LlmRefusal for what the provider cannot be asked. */
  requestBody(call: ChatCall, body: JsonBody): string | Uint8Array;
  /** What the provider says went wrong. */
  readError(status: number, body: string, headers: HeaderList): LlmError;
  /** What is made of a whole response. Throws when it has another shape. */
  readWhole(received: ReceivedWhole, call: ChatCall, model: string): WholeResponse;
  openStream(call: ChatCall, model: string): StreamRelay;
}

/** The target of a call in origin form; it may depend on the model. */
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
  /** Undefined: the provider's own, byte for byte. */
  readonly text: string | undefined;
  readonly facts: ResponseFacts;
}

/** One stream on its way from a provider to the client. */
export interface StreamRelay {
  readonly facts: ResponseFacts;
  /** How many of the provider's events had content so far, whether they came apart or together. */
  readonly pieces: number;
  /** What the client gets of what came. */
  push(chunk: Buffer): StreamStep;
  /** What it gets when the provider has closed the stream. */
  close(): StreamStep;
  /** The end of what the client has of it when it failed. */
  fail(error: LlmError): string;
  /** What it gets while the provider is silent. */
  readonly ping: string;
}
