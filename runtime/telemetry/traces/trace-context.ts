import { isHeader } from "../../http/headers/header-list.ts";

/** Where a request belongs in a trace, as its sender says (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** The sender's span: 16 of them. */
  readonly spanId: string;
  /** Two of them, of which those bits are set that have a meaning; the lowest: the trace is recorded. */
  readonly flags: string;
}

/**
 * The context of a request; undefined: it has none, or none that is valid, and a trace would begin anew. More than one
 * header is none (3.2).
 */
export function readTraceContext(request: TracedHead): TraceContext | undefined {
  const value = request.header("traceparent");
  if (value === undefined) return undefined;
  // What several say is one list.
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

/** What stands in `traceparent`; what a later version has behind the four fields is not read (3.2.4). */
export function parseTraceparent(value: string): TraceContext | undefined {
  const found = PATTERN.exec(value);
  if (found === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = found;
  if (version === "ff" || (version === "00" && rest !== "")) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return { traceId, spanId, flags: knownFlags(version, flags) };
}

/** Bits without a meaning go no further (3.2.2.5); of later versions only the first one is known. The second: the id is random. */
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

/** Whether a text can stand in a header as `tracestate`: printable ASCII, as long as servers have to pass on (3.3.1.5). */
export function isState(text: string): boolean {
  return /^[\x20-\x7e]{1,512}$/.test(text);
}

/** What a call says in `traceparent`. */
export function traceparent(traceId: string, spanId: string, flags: string): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** The same as a line of HTTP/1.1, in few pieces: all of them are written with each request. */
export function traceparentLine(traceId: string, spanId: string, flags: string): string {
  const end = flags === "01" ? "-01\r\n" : `-${flags}\r\n`;
  return `traceparent: 00-${traceId}-${spanId}${end}`;
}
