import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { openConnection } from "../session/open-connection.ts";
import type { LiveParts } from "../session/session.ts";
import { sessionTable } from "../session/session-table.ts";
import type { McpBackend } from "../transports/backend.ts";
import { callByMessage } from "../transports/call-span.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import {
  type Call,
  type CallSink,
  endedCall,
  type ListenSink,
  type LiveTarget,
} from "../transports/target.ts";
import type { LeasedLink } from "./leased-link.ts";

/** A session that is a connection of this process: a child, an event stream, an API. */
export class ConnectionLink implements LeasedLink {
  readonly #target: LiveTarget;
  readonly #opened: ReturnType<typeof openConnection>;
  readonly #close: () => void;

  constructor(exchange: Exchange, backend: McpBackend, target: LiveTarget, live: LiveParts) {
    this.#target = target;
    live.isEstablished = true;
    this.#opened = openConnection(exchange, backend, target, live);
    const close = () => sessionTable(exchange.gateway).closeLive(live);
    this.#close = close;
  }

  get isOpen(): boolean {
    return "connection" in this.#opened && this.#opened.connection.isOpen;
  }

  call(exchange: Exchange, request: Message, sink: CallSink): Call {
    if ("failure" in this.#opened) {
      sink.onFailure(this.#opened.failure);
      return endedCall;
    }
    noteTargetEra(exchange, "sessions");
    return callByMessage(exchange, this.#target, this.#opened.connection, request, sink);
  }

  send(message: Message): void {
    if ("connection" in this.#opened) this.#opened.connection.send(message);
  }

  async listen(sink: ListenSink): Promise<void> {
    if ("connection" in this.#opened) this.#opened.connection.listen(sink);
  }

  close(): void {
    this.#close();
  }
}
