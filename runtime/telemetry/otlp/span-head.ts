import type { HexId } from "./hex-id.ts";

/** The ids and the start of a span. */
export interface SpanHead {
  /** 32 hex digits. */
  readonly traceId: HexId;
  /** 16 hex digits. */
  readonly spanId: HexId;
  /** Two hex digits (W3C Trace Context). */
  readonly flags: string;
  /** The parent span; `undefined` for the root of a trace. */
  readonly parentId: HexId | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  /** A linked span of another trace, with its ids as hex digits; absent if there is no link. */
  readonly link?: { readonly traceId: string; readonly spanId: string } | undefined;
}

/** The kind of a span, as OTLP's numbers. */
export type SpanKind = 1 | 2 | 3;
/** Work of the gateway itself. */
export const INTERNAL: SpanKind = 1;
/** A request that the gateway serves. */
export const SERVER: SpanKind = 2;
/** A request to another server. */
export const CLIENT: SpanKind = 3;
