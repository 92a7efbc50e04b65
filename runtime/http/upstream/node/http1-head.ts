import { endOfLine, type Http1Lines, readHttp1Fields } from "../../http1/fields.ts";
import { keepsConnection, readFraming } from "../../http1/framing.ts";

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

/** Reads a head without the empty line behind it. A string is what is wrong. */
export function readHttp1Head(lines: Http1Lines): Http1Head | string {
  const { text } = lines;
  const statusEnd = endOfLine(text, 0);
  const line = statusLine.exec(text.slice(0, statusEnd));
  if (line === null) return "no valid status line";
  const headers = readHttp1Fields(lines, statusEnd + 2);
  if (typeof headers === "string") return headers;
  const framing = readFraming(headers, text);
  if (typeof framing === "string") return framing;
  const { length, isChunked, connection, keepAlive } = framing;
  const isOld = line[1] === "0";
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
  const keepsAlive = !(isOld && isChunked) && keepsConnection(connection, isOld);
  const keepAliveTime = timeOf(keepAlive);
  return { status: Number(line[2]), headers, length, isChunked, keepsAlive, keepAliveTime };
}

function timeOf(value: string): number | undefined {
  if (value === "") return undefined;
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** RFC 9112 4; the reason may be left out, and the space before it. */
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
