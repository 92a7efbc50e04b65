import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { Call, CallSink, ListenSink } from "../transports/target.ts";

/** The way to a target within a session that the gateway has opened for a client without. */
export interface LeasedLink {
  readonly isOpen: boolean;
  call(exchange: Exchange, request: Message, sink: CallSink): Call;
  /** Sends a notification, or a response to what the server asked, as a part of the last request. */
  send(message: Message): void;
  /** Hands over what the server says outside of calls. Resolves when it is heard, or would not be. */
  listen(sink: ListenSink): Promise<void>;
  /** Ends the session and all that waits for it. */
  close(): void;
}
