import type { HexId } from "./hex-id.ts";

/** Where a span belongs, and when it began. */
export interface SpanHead {
  /** 32 digits. */
  readonly traceId: HexId;
  /** 16 of them. */
  readonly spanId: HexId;
  /** Two hex digits (W3C Trace Context). */
  readonly flags: string;
  /** The span that it is a part of; undefined: a trace begins with it. */
  readonly parentId: HexId | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  /** A span of another trace that it has to do with: its ids as hex digits. Absent: none. */
  readonly link?: { readonly traceId: string; readonly spanId: string } | undefined;
}

/** Who a span is about: this server, or another one that it calls (OTLP's numbers). */
export type SpanKind = 2 | 3;
/** A request that is served. */
export const SERVER: SpanKind = 2;
/** A request to another server. */
export const CLIENT: SpanKind = 3;
