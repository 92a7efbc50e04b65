import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { Call, CallSink, ListenSink } from "../transports/target.ts";

/** The connection to a target in a session that the gateway has opened for a client without sessions. */
export interface LeasedLink {
  readonly isOpen: boolean;
  call(exchange: Exchange, request: Message, sink: CallSink): Call;
  /** Sends a notification, or a response to the server's request, as part of the last request. */
  send(message: Message): void;
  /** Delivers the server's messages outside of calls. Resolves once the stream is open or refused. */
  listen(sink: ListenSink): Promise<void>;
  /** Ends the session and everything that waits for it. */
  close(): void;
}
