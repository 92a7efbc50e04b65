import type { ItemBuffer } from "./item-buffer.ts";
import type { SpanHead, SpanKind } from "./span-head.ts";

/** One of OpenTelemetry's signals, with its field names in OTLP messages. */
export interface OtlpSignal {
  readonly resources: "resourceSpans" | "resourceLogs";
  readonly scopes: "scopeSpans" | "scopeLogs";
  readonly items: "spans" | "logRecords";
  /** The field with the number of rejected items in a response. */
  readonly rejected: "rejectedSpans" | "rejectedLogRecords";
}

/** The signal of spans. */
export const traceSignal: OtlpSignal = {
  resources: "resourceSpans",
  scopes: "scopeSpans",
  items: "spans",
  rejected: "rejectedSpans",
};

/** The signal of log records. */
export const logSignal: OtlpSignal = {
  resources: "resourceLogs",
  scopes: "scopeLogs",
  items: "logRecords",
  rejected: "rejectedLogRecords",
};

/** The kinds of messages with attributes. */
export type AttributeOwner = "resource" | "span" | "logRecord";

/** Encodes single attributes. */
export interface AttributeFormat {
  /** The string between two attributes. */
  readonly separator: string;
  /** A long value is truncated. */
  text(name: string, value: string): string;
  /** A string that is never truncated. */
  content(name: string, value: string): string;
  number(name: string, value: number): string;
  boolean(name: string, value: boolean): string;
  list(name: string, values: readonly string[]): string;
}

/** Encoded attributes. */
export interface WrittenAttributes {
  /** Number of bytes. */
  readonly length: number;
  writeTo(items: ItemBuffer): void;
  /** Writes them between two byte sequences that many items share. Returns the offset of the first. */
  writeBetween(items: ItemBuffer, open: Uint8Array, close: Uint8Array): number;
}

/** A log record without its attributes. */
export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Body of the record, or name of an event. */
  readonly about: { readonly body: string } | { readonly event: string };
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
}

/** The parts of a request around its items. */
export interface OtlpEnvelope {
  /** Maximum number of bytes before the items. */
  readonly room: number;
  /** Returns the request with these items (at least one), which shares their buffer. */
  around(items: ItemBuffer): Buffer;
}

/** An encoding of OTLP. Every character of a returned string stands for one byte (Latin-1). */
export interface OtlpFormat {
  attributes(owner: AttributeOwner): AttributeFormat;
  /** Adds a span. Times are in milliseconds since the epoch; `error` is `undefined` if the span succeeded. */
  span(
    items: ItemBuffer,
    head: SpanHead,
    name: string,
    kind: SpanKind,
    end: number,
    attributes: WrittenAttributes,
    error: string | undefined,
  ): void;
  logRecord(items: ItemBuffer, record: LogRecord, attributes: WrittenAttributes): void;
  /** Returns the parts of a request around its items. `resource`: encoded attributes. */
  envelope(signal: OtlpSignal, resource: string): OtlpEnvelope;
}
