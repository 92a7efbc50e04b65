import type { Exchange } from "../../http/exchange.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import type { TextFormat } from "../chat/texts.ts";
import type { ChatCall } from "./chat-call.ts";
import type { ConditionalChoice } from "./target.ts";

/** One route type of a route: which clients it is for, and who responds to them. */
export interface ChatService {
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings" | "count_tokens";
  /** The most bytes of a request's body. */
  readonly limit: number;
  readonly targets: ConditionalChoice;
  /** Where requests and responses have texts; absent: no target guards any. */
  readonly texts?: TextFormat;
  /** About as many tokens as a request has are taken from limits before it goes out; absent: none are. */
  readonly expectsTokens?: true;
  /** Milliseconds of silence after which a client of a stream gets a sign of life; absent: nothing is streamed. */
  readonly keepAlive?: number;
  /** Milliseconds to the end of the response, whoever is asked; absent: no limit. */
  readonly timeout?: number;
  /** The same for each provider that is asked. */
  readonly attemptTimeout?: number;
  /** The response header that names the provider; absent: none does. */
  readonly providerHeader?: string;
  /** Responds where nobody is asked (`unasked`); absent: somebody always is. */
  readonly estimate?: (exchange: Exchange, call: ChatCall) => void;
}
