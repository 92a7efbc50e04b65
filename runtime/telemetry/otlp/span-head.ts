/** What a span is besides its attributes and its end. Times in milliseconds since the epoch, with fractions. */
export interface SpanHead {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Two of them (W3C Trace Context). */
  readonly flags: string;
  /** The span that it is a part of; undefined: a trace begins with it. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: number;
}

/** Who a span is about: this server, or another one that it calls (OTLP's numbers). */
export type SpanKind = 2 | 3;
/** A request that is served. */
export const SERVER: SpanKind = 2;
/** A request to another server. */
export const CLIENT: SpanKind = 3;
