/** What a turn of a conversation, a system prompt or a completion is made of. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ToolCallBlock
  | ToolResultBlock
  | ReasoningBlock
  | RedactedReasoningBlock;

/** The provider may keep everything up to here for the next request. */
export interface CacheMark {
  /** How long; undefined: as long as the provider keeps it. */
  readonly ttl: "5m" | "1h" | undefined;
}

/** A block after which the provider may cache. */
interface Cacheable {
  readonly cache?: CacheMark | undefined;
}

/** Words. */
export interface TextBlock extends Cacheable {
  readonly kind: "text";
  readonly text: string;
}

/** A picture. */
export interface ImageBlock extends Cacheable {
  readonly kind: "image";
  readonly source: MediaSource;
  /** How closely the model looks, in OpenAI's words. */
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

/** Where an image or a document comes from. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string }
  /** A file that was uploaded to the provider. */
  | { readonly kind: "file"; readonly id: string };

/** The model calls a tool. */
export interface ToolCallBlock extends Cacheable {
  readonly kind: "tool-call";
  readonly id: string;
  readonly name: string;
  /** The text of a JSON object. */
  readonly input: string;
  /** What the provider wants to see again with the call (Gemini's thought signature). */
  readonly signature?: string | undefined;
}

/** What a tool returned. */
export interface ToolResultBlock extends Cacheable {
  readonly kind: "tool-result";
  /** Of the call. */
  readonly id: string;
  readonly content: readonly (TextBlock | ImageBlock | DocumentBlock)[];
  readonly isError: boolean;
}

/** What the model thought. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly text: string;
  /** Without one a provider that signs does not take it back. */
  readonly signature: string | undefined;
}

/** What the model thought, as the provider alone can read it. */
export interface RedactedReasoningBlock {
  readonly kind: "redacted-reasoning";
  readonly data: string;
}
