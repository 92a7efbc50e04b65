import type { Exchange } from "../../http/exchange.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import type { MessageFormat } from "../chat/message-format.ts";
import type { TextFormat } from "../chat/texts.ts";
import type { ChatCall } from "./chat-call.ts";
import type { ConditionalChoice } from "./target.ts";

/** Purpose of a request: `gen_ai.operation.name`. */
export type LlmOperation =
  | "chat"
  | "embeddings"
  | "count_tokens"
  | "speech"
  | "transcription"
  | "translation"
  | "image_generation"
  | "image_edit"
  | "image_variation"
  | "rerank"
  | "moderation";

/** One route type of a route: the client format, and the providers that respond. */
export interface ChatService {
  /** Error format of the client. */
  readonly errors: ErrorFormat;
  readonly operation: LlmOperation;
  /** Maximum size of a request body, in bytes. */
  readonly limit: number;
  readonly targets: ConditionalChoice;
  /** Names of models whose providers do not have the API, with at most one `*` at an end; absent if there are none. */
  readonly unserved?: readonly string[];
  /** Reads a call; absent if its body is a complete request. */
  readonly readCall?: (exchange: Exchange) => ChatCall;
  /** Format in which messages are captured; absent if they are not. */
  readonly messages?: MessageFormat;
  /** Texts of requests and responses; absent if no target has guards. */
  readonly texts?: TextFormat;
  /** Whether limits are charged an estimate of the request's tokens before it is sent; absent if not. */
  readonly expectsTokens?: true;
  /** Milliseconds of silence after which the client of a stream is sent a ping; absent if responses are not streamed. */
  readonly keepAlive?: number;
  /** Maximum duration of the whole call in milliseconds; absent if there is no limit. */
  readonly timeout?: number;
  /** Maximum duration of each attempt, in milliseconds. */
  readonly attemptTimeout?: number;
  /** Response header that names the provider; absent if no header does. */
  readonly providerHeader?: string;
  /** Responds if no provider is called (`unasked`); absent if one always is. */
  readonly estimate?: (exchange: Exchange, call: ChatCall) => void;
}
