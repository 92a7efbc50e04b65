import type { WebPage } from "./web-search.ts";

/** Content of a turn, a system prompt or a completion. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ToolCallBlock
  | ToolResultBlock
  | ReasoningBlock
  | RedactedReasoningBlock;

/** A cache breakpoint: the provider may cache everything up to here for later requests. */
export interface CacheMark {
  /** Lifetime; `undefined` for the provider's default. */
  readonly ttl: "5m" | "1h" | undefined;
}

/** A block after which the provider may cache. */
interface Cacheable {
  readonly cache?: CacheMark | undefined;
}

/** Text. */
export interface TextBlock extends Cacheable {
  readonly kind: "text";
  readonly text: string;
  /** Pages that the text of a completion cites; absent if it cites none. */
  readonly citations?: readonly WebPage[];
  /** Whether the model refuses the request with it; absent if not. */
  readonly isRefusal?: true;
}

/** An image. */
export interface ImageBlock extends Cacheable {
  readonly kind: "image";
  readonly source: MediaSource;
  /** Resolution at which the model reads it, in OpenAI's words. */
  readonly detail?: string | undefined;
}

/** A file that the model reads. */
export interface DocumentBlock extends Cacheable {
  readonly kind: "document";
  readonly source: MediaSource | { readonly kind: "text"; readonly text: string };
  /** The file's name or title. */
  readonly name: string | undefined;
}

/** Speech, or other sound. */
export interface AudioBlock {
  readonly kind: "audio";
  /** Base64. */
  readonly data: string;
  /** `wav`, `mp3`. */
  readonly format: string;
}

/** Source of an image or a document. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string }
  /** A file that was uploaded to the provider. */
  | { readonly kind: "file"; readonly id: string };

/** A tool call by the model. */
export interface ToolCallBlock extends Cacheable {
  readonly kind: "tool-call";
  readonly id: string;
  readonly name: string;
  /** JSON of an object. */
  readonly input: string;
  /** Signature that the provider expects back with the call (Gemini's thought signature). */
  readonly signature?: string | undefined;
}

/** Result of a tool. */
export interface ToolResultBlock extends Cacheable {
  readonly kind: "tool-result";
  /** Id of the call. */
  readonly id: string;
  readonly content: readonly (TextBlock | ImageBlock | DocumentBlock)[];
  readonly isError: boolean;
}

/** Reasoning of the model. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly text: string;
  /** Providers that sign reasoning do not accept it back without a signature. */
  readonly signature: string | undefined;
}

/** Encrypted reasoning that only the provider can read. */
export interface RedactedReasoningBlock {
  readonly kind: "redacted-reasoning";
  readonly data: string;
}
