import { isHeader } from "../../http/headers/header-list.ts";

/** A request's place in a trace, as sent by its client (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** The client's span: 16 hex digits. */
  readonly spanId: string;
  /** Two hex digits with the defined bits; the lowest means that the trace is recorded. */
  readonly flags: string;
}

/**
 * Returns the trace context of a request; `undefined` if it is absent or invalid, so that a new trace begins. Repeated
 * headers are invalid (3.2).
 */
export function readTraceContext(request: TracedHead): TraceContext | undefined {
  const value = request.header("traceparent");
  if (value === undefined) return undefined;
  // Repeated headers are joined to a list.
  const isOne = !value.includes(",") || hasOne(request.requestHeaders, "traceparent");
  return isOne ? parseTraceparent(value.trim()) : undefined;
}

/** The headers of a request. */
interface TracedHead {
  header(name: string): string | undefined;
  readonly requestHeaders: readonly string[];
}

function hasOne(headers: readonly string[], name: string): boolean {
  return headers.filter((sent, i) => i % 2 === 0 && isHeader(sent, name)).length === 1;
}

/** Parses a `traceparent` value; ignores what later versions add behind the four fields (3.2.4). */
export function parseTraceparent(value: string): TraceContext | undefined {
  const found = PATTERN.exec(value);
  if (found === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = found;
  if (version === "ff" || (version === "00" && rest !== "")) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return { traceId, spanId, flags: knownFlags(version, flags) };
}

/**
 * Returns the defined flags; undefined bits must not be forwarded (3.2.2.5). Bit 0: recorded, bit 1: random trace id; of
 * later versions only bit 0 is known.
 */
function knownFlags(version: string | undefined, flags: string): string {
  if (flags === "01" || flags === "00") return flags;
  return `0${Number.parseInt(flags, 16) & (version === "00" ? 3 : 1)}`;
}

const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})($|-.*$)/;
const noTrace = "0".repeat(32);
const noSpan = "0".repeat(16);

/** Whether the sender records the trace. */
export function isRecorded({ flags }: TraceContext): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/**
 * Whether a string is valid as the `tracestate` header: printable ASCII, up to the length that servers must forward
 * (3.3.1.5).
 */
export function isState(text: string): boolean {
  return /^[\x20-\x7e]{1,512}$/.test(text);
}

/** Returns the `traceparent` value of a call. */
export function traceparent(traceId: string, spanId: string, flags: string): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** Returns it as an HTTP/1.1 header line, with few concatenations, as it is written for each request. */
export function traceparentLine(traceId: string, spanId: string, flags: string): string {
  const end = flags === "01" ? "-01\r\n" : `-${flags}\r\n`;
  return `traceparent: 00-${traceId}-${spanId}${end}`;
}
