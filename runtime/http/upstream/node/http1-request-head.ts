import { isBodySource } from "../../body/body.ts";
import { isFieldValue, isToken } from "../../http1/fields.ts";
import type { UpstreamCall } from "../upstream.ts";

/** How a body is framed (RFC 9112 6): by its length, in chunks; undefined: there is none, and nothing is said of it. */
export type BodyFraming = number | "chunked" | undefined;

/** The framing of a request. */
export function framingOf({ method, body }: UpstreamCall): BodyFraming {
  if (body === null) return bodiless.has(method) ? undefined : 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  if (isBodySource(body)) return body.length ?? "chunked";
  return body.length;
}

/** The head of a request as it is sent; undefined when a part of it would not stay what it is. */
export function http1RequestHead(
  { method, path, headers }: UpstreamCall,
  framing: BodyFraming,
): string | undefined {
  if (!isToken(method) || !target.test(path)) return undefined;
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    if (!isToken(name) || !isFieldValue(value)) return undefined;
    head += `${name}: ${value}\r\n`;
  }
  // Servers of HTTP/1.0 would close the connection (RFC 9112 C.2.2).
  head += "connection: keep-alive\r\n";
  if (framing === "chunked") head += "transfer-encoding: chunked\r\n";
  else if (framing !== undefined) head += `content-length: ${framing}\r\n`;
  return `${head}\r\n`;
}

/** Methods whose requests mostly have no body: others say that theirs is empty (RFC 9110 8.6). */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "DELETE"]);

/** RFC 9112 3.2: no space, no control. */
const target = /^[\x21-\x7e\x80-\xff]+$/;
