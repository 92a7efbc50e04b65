import { readBeginning } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import type { Tracing } from "../../telemetry/traces/tracing.ts";
import { metaFields } from "../protocol/envelope.ts";
import { type Message, readMessageBytes } from "../protocol/message.ts";

/** What clients' messages say of their traces in `params._meta` (SEP-414); who has headers for it is not asked. */
export interface SentTrace {
  /** A client's message has been read. */
  note(exchange: Exchange, message: Message): void;
  /**
   * Reads the message of a request that would pass unread, of at most `limit` bytes. Undefined: it passes as it is, or the
   * request was refused, or the client is gone.
   */
  look(
    exchange: Exchange,
    limit: number,
  ): Promise<{ readonly message: Message; readonly bytes: Buffer } | undefined> | undefined;
}

/** Reads messages for the traces of a gateway. */
export function sentTrace(tracing: Tracing): SentTrace {
  const note = (exchange: Exchange, message: Message) => {
    const fields = metaFields(message);
    if (typeof fields === "string") return;
    const [traceparent, tracestate] = ["traceparent", "tracestate"].map((name) =>
      stringAt(message.text, fields.get(name)),
    );
    if (traceparent !== undefined) tracing.continueTrace(exchange, { traceparent, tracestate });
  };
  const read = async (exchange: Exchange, limit: number) => {
    const beginning = await readBeginning(exchange, limit);
    if (beginning === undefined || beginning.isPart) return undefined;
    const { bytes } = beginning;
    const message = readMessageBytes(bytes);
    if (message.kind === "problem") return undefined;
    note(exchange, message);
    return { message, bytes };
  };
  return {
    note,
    look: (exchange, limit) => {
      // It has a trace by its header, which is not recorded: nothing in it is changed.
      const isSettled =
        exchange.trace === undefined && exchange.header("traceparent") !== undefined;
      return isSettled ? undefined : read(exchange, limit);
    },
  };
}
