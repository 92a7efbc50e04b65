import { readBeginning, readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { Tracing } from "../../telemetry/traces/tracing.ts";
import { mayHaveTrace, metaFields } from "../protocol/envelope.ts";
import { type Message, readMessageBytes } from "../protocol/message.ts";

/** Reads the trace context of clients' messages from `params._meta` (SEP-414); trace headers take precedence. */
export interface SentTrace {
  /** Records the trace context of a client's message. */
  note(exchange: Exchange, message: Message): void;
  /**
   * Reads the message of a request that would be passed on unparsed, up to `limit` bytes. Returns `undefined` if the
   * request can pass unchanged, was refused, or its client is gone.
   */
  look(exchange: Exchange, limit: number): MaybePromise<ReadMessage | undefined>;
}

/** A parsed message with its original bytes. */
interface ReadMessage {
  readonly message: Message;
  readonly bytes: Buffer;
}

/** Returns the reader of trace contexts for a gateway. */
export function sentTrace(tracing: Tracing): SentTrace {
  const note = (exchange: Exchange, message: Message) => {
    if (!mayHaveTrace(message.text)) return;
    const fields = metaFields(message);
    if (typeof fields === "string") return;
    const [traceparent, tracestate] = [KEY, "tracestate"].map((name) =>
      stringAt(message.text, fields.get(name)),
    );
    if (traceparent !== undefined) tracing.continueTrace(exchange, { traceparent, tracestate });
  };
  const read = (exchange: Exchange, bytes: Buffer | undefined): ReadMessage | undefined => {
    if (bytes === undefined || !mayHaveTrace(bytes)) return undefined;
    const message = readMessageBytes(bytes);
    if (message.kind === "problem") return undefined;
    note(exchange, message);
    return { message, bytes };
  };
  return {
    note,
    look: (exchange, limit) => {
      // The trace comes from its header and is not recorded, so nothing in the message changes.
      if (exchange.trace === undefined && exchange.header(KEY) !== undefined) return undefined;
      return thenMaybe(bodyWithin(exchange, limit), (bytes) => read(exchange, bytes));
    },
  };
}

const KEY = "traceparent";

/** Reads the whole body of a request; `undefined` if it is longer, was refused, or its client is gone. */
function bodyWithin(exchange: Exchange, limit: number): MaybePromise<Buffer | undefined> {
  if (Number(exchange.header("content-length")) <= limit) return readWhole(exchange, limit);
  return readBeginning(exchange, limit).then((beginning) =>
    beginning?.isPart === false ? beginning.bytes : undefined,
  );
}
