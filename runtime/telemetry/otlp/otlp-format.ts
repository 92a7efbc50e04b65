import type { ItemBuffer } from "./item-buffer.ts";
import type { SpanHead, SpanKind } from "./span-head.ts";

/** One of OpenTelemetry's signals, in the words of OTLP's messages. */
export interface OtlpSignal {
  readonly resources: "resourceSpans" | "resourceLogs";
  readonly scopes: "scopeSpans" | "scopeLogs";
  readonly items: "spans" | "logRecords";
  /** How a response calls the items that it rejects. */
  readonly rejected: "rejectedSpans" | "rejectedLogRecords";
}

/** Spans. */
export const traceSignal: OtlpSignal = {
  resources: "resourceSpans",
  scopes: "scopeSpans",
  items: "spans",
  rejected: "rejectedSpans",
};

/** Log records. */
export const logSignal: OtlpSignal = {
  resources: "resourceLogs",
  scopes: "scopeLogs",
  items: "logRecords",
  rejected: "rejectedLogRecords",
};

/** What has attributes. */
export type AttributeOwner = "resource" | "span" | "logRecord";

/** How one attribute is written. */
export interface AttributeFormat {
  /** What stands between two. */
  readonly separator: string;
  text(name: string, value: string): string;
  number(name: string, value: number): string;
  boolean(name: string, value: boolean): string;
  list(name: string, values: readonly string[]): string;
}

/** Attributes as they are written. */
export interface WrittenAttributes {
  /** Bytes. */
  readonly length: number;
  writeTo(items: ItemBuffer): void;
  /** Writes them between what stands around those of many items. Gives the place where it begins. */
  writeBetween(items: ItemBuffer, open: Uint8Array, close: Uint8Array): number;
}

/** What stands around the items of a request. */
export interface OtlpEnvelope {
  /** Bytes that it needs before them, at most. */
  readonly room: number;
  /** The request with these items, one or more: theirs are its bytes. */
  around(items: ItemBuffer): Buffer;
}

/** How OTLP is written. Every character of a text that is made stands for one byte (Latin-1). */
export interface OtlpFormat {
  attributes(owner: AttributeOwner): AttributeFormat;
  /** Adds an item. Times in milliseconds since the epoch; `error`: what went wrong; undefined: nothing. */
  span(
    items: ItemBuffer,
    head: SpanHead,
    name: string,
    kind: SpanKind,
    end: number,
    attributes: WrittenAttributes,
    error: string | undefined,
  ): void;
  /** Adds an item. */
  logRecord(
    items: ItemBuffer,
    time: number,
    body: string,
    attributes: WrittenAttributes,
    traceId: string | undefined,
    spanId: string | undefined,
  ): void;
  /** How items become what goes to a collector. `resource`: attributes. */
  envelope(signal: OtlpSignal, resource: string): OtlpEnvelope;
}
