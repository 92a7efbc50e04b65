import { readBeginning, readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { Tracing } from "../../telemetry/traces/tracing.ts";
import { metaFields, saysTrace } from "../protocol/envelope.ts";
import { type Message, readMessageBytes } from "../protocol/message.ts";

/** What clients' messages say of their traces in `params._meta` (SEP-414); who has headers for it is not asked. */
export interface SentTrace {
  /** A client's message has been read. */
  note(exchange: Exchange, message: Message): void;
  /**
   * Reads the message of a request that would pass unread, of at most `limit` bytes. Undefined: it passes as it is, or the
   * request was refused, or the client is gone.
   */
  look(exchange: Exchange, limit: number): MaybePromise<ReadMessage | undefined>;
}

/** A message, and how it was sent. */
interface ReadMessage {
  readonly message: Message;
  readonly bytes: Buffer;
}

/** Reads messages for the traces of a gateway. */
export function sentTrace(tracing: Tracing): SentTrace {
  const note = (exchange: Exchange, message: Message) => {
    if (!saysTrace(message.text)) return;
    const fields = metaFields(message);
    if (typeof fields === "string") return;
    const [traceparent, tracestate] = [KEY, "tracestate"].map((name) =>
      stringAt(message.text, fields.get(name)),
    );
    if (traceparent !== undefined) tracing.continueTrace(exchange, { traceparent, tracestate });
  };
  const read = (exchange: Exchange, bytes: Buffer | undefined): ReadMessage | undefined => {
    if (bytes === undefined || !saysTrace(bytes)) return undefined;
    const message = readMessageBytes(bytes);
    if (message.kind === "problem") return undefined;
    note(exchange, message);
    return { message, bytes };
  };
  return {
    note,
    look: (exchange, limit) => {
      // It has a trace by its header, which is not recorded: nothing in it is changed.
      if (exchange.trace === undefined && exchange.header(KEY) !== undefined) return undefined;
      return thenMaybe(bodyWithin(exchange, limit), (bytes) => read(exchange, bytes));
    },
  };
}

const KEY = "traceparent";

/** The whole body of a request; undefined: it is longer, was refused, or its client is gone. */
function bodyWithin(exchange: Exchange, limit: number): MaybePromise<Buffer | undefined> {
  if (Number(exchange.header("content-length")) <= limit) return readWhole(exchange, limit);
  return readBeginning(exchange, limit).then((beginning) =>
    beginning?.isPart === false ? beginning.bytes : undefined,
  );
}
