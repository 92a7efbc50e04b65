import { isBodySource } from "../../body/body.ts";
import { fieldLines } from "../../http1/field-lines.ts";
import { isToken } from "../../http1/fields.ts";
import type { LinesCall, UpstreamCall } from "../upstream.ts";

/** A request as it is written. */
export interface WrittenCall {
  readonly method: string;
  /** Undefined: a part of it would not stay what it is. */
  readonly head: string | undefined;
  readonly body: UpstreamCall["body"];
  /** Its bytes; `chunked`: it goes in chunks (RFC 9112 7.1); undefined: there is none, and nothing is said of it. */
  readonly framing: BodyFraming;
}

/** A request whose fields are written. */
export interface WrittenFields extends Omit<LinesCall, "lines"> {
  readonly lines: string | undefined;
}

/** Writes the head of a request. */
export function writtenCall({ method, path, headers, body }: UpstreamCall): WrittenCall {
  return writtenLines({ method, path, lines: fieldLines(headers), body });
}

/** The same of one whose fields are written already; undefined: they can't be. */
export function writtenLines({ method, path, lines, body, length }: WrittenFields): WrittenCall {
  const framing = length ?? framingOf(method, body);
  const isWritable = lines !== undefined && isToken(method) && TARGET.test(path);
  const head = isWritable
    ? `${method} ${path} HTTP/1.1\r\n${lines}${framingLines(framing)}\r\n`
    : undefined;
  return { method, head, body, framing };
}

/** How a body is framed (RFC 9112 6). */
type BodyFraming = number | "chunked" | undefined;

function framingOf(method: string, body: UpstreamCall["body"]): BodyFraming {
  if (body === null) return BODILESS.has(method) ? undefined : 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  if (isBodySource(body)) return body.length ?? "chunked";
  return body.length;
}

function framingLines(framing: BodyFraming): string {
  // Servers of HTTP/1.0 would close the connection (RFC 9112 C.2.2).
  const kept = "connection: keep-alive\r\n";
  if (framing === undefined) return kept;
  if (framing === "chunked") return `${kept}transfer-encoding: chunked\r\n`;
  return `${kept}content-length: ${framing}\r\n`;
}

/** Methods whose requests mostly have no body: others say that theirs is empty (RFC 9110 8.6). */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "DELETE"]);

/** RFC 9112 3.2: no space, no control. */
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;
