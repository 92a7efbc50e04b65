import { isHeader } from "../../headers/header-list.ts";

/** The head of a response (RFC 9112 4, 5), and what it says of what follows. */
export interface Http1Head {
  readonly status: number;
  /** Flat list, as it came. */
  readonly headers: readonly string[];
  /** Bytes of the body; undefined: it says no number. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** Another request may be sent on the connection. */
  readonly keepsAlive: boolean;
  /** Seconds for which the server keeps it open without one; undefined: it does not say. */
  readonly keepAliveTime: number | undefined;
}

/**
 * Reads a head without the empty line behind it. A string is what is wrong: two readers of it might not agree where the
 * response ends, so nothing is forgiven (RFC 9112 11.2).
 */
export function readHttp1Head(text: string): Http1Head | string {
  const statusEnd = endOfLine(text, 0);
  const line = statusLine.exec(text.slice(0, statusEnd));
  if (line === null) return "no valid status line";
  const headers = readHttp1Fields(text, statusEnd + 2);
  if (typeof headers === "string") return headers;
  const isOld = line[1] === "0";
  let length: number | undefined;
  let isChunked = false;
  let connection = "";
  let keepAliveTime: number | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    switch (name.length) {
      case 14:
        if (!isHeader(name, "content-length")) break;
        if (length !== undefined || !digits.test(value)) return "no valid Content-Length";
        length = Number(value);
        if (!Number.isSafeInteger(length)) return "no valid Content-Length";
        break;
      case 17:
        if (!isHeader(name, "transfer-encoding")) break;
        // llhttp takes a tab for a part of the word.
        if (isChunked || value.toLowerCase() !== "chunked" || codingWithTab.test(text)) {
          return "a transfer coding but chunked";
        }
        isChunked = true;
        break;
      case 10:
        if (isHeader(name, "connection")) connection += `,${value.toLowerCase()}`;
        else if (isHeader(name, "keep-alive")) keepAliveTime = timeOf(value);
        break;
    }
  }
  if (isChunked && length !== undefined) return "Content-Length beside Transfer-Encoding";
  // RFC 9112 6.1: who writes this in HTTP/1.0 may not mean it.
  const isDoubtful = isOld && isChunked;
  const keepsAlive =
    !isDoubtful && (isOld ? keepAliveToken.test(connection) : !closeToken.test(connection));
  return { status: Number(line[2]), headers, length, isChunked, keepsAlive, keepAliveTime };
}

/** Reads fields, each on a line, as a flat list; a string is what is wrong. */
export function readHttp1Fields(text: string, start: number): string[] | string {
  if (forbidden.test(text)) return "a character that no field has";
  const fields: string[] = [];
  for (let at = start; at < text.length; ) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    if (colon < 0 || colon > end) return "a line that is no field";
    const name = text.slice(at, colon);
    if (!token.test(name)) return "a field without a valid name";
    fields.push(name, trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

/** RFC 9110 5.6.3: optional white space is spaces and tabs. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\r\n", at);
  return end < 0 ? text.length : end;
}

function timeOf(value: string): number | undefined {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** RFC 9112 4; the reason may be left out, and the space before it. */
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** Controls, and line breaks that are not CRLF. */
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;

/** RFC 9110 5.6.2. */
const token = /^[\w!#$%&'*+\-.^`|~]+$/;

const codingWithTab = /^transfer-encoding:[^\r]*\t/im;
const digits = /^\d{1,16}$/;
const closeToken = /(?:^|,)\s*close\s*(?:,|$)/;
const keepAliveToken = /(?:^|,)\s*keep-alive\s*(?:,|$)/;
