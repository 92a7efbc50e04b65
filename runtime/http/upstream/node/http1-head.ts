import type { Http1Lines } from "../../http1/fields.ts";
import { type ReceivedFields, readReceivedFields } from "../../http1/received-fields.ts";

/** The head of a response (RFC 9112 4, 5), and what it says of what follows. */
export interface Http1Head {
  readonly status: number;
  readonly fields: ReceivedFields;
  /** Another request may be sent on the connection. */
  readonly keepsAlive: boolean;
  /** Seconds for which the server keeps it open without one; undefined: it does not say. */
  readonly keepAliveTime: number | undefined;
}

/** Reads a head without the empty line behind it. A string is what is wrong. */
export function readHttp1Head(lines: Http1Lines): Http1Head | string {
  const { text } = lines;
  const lineEnd = text.indexOf("\r\n");
  if (!statusLine.test(text.slice(0, lineEnd))) return "no valid status line";
  const fields = readReceivedFields(lines, lineEnd + 2);
  if (typeof fields === "string") return fields;
  const isOld = text[minorAt] === "0";
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
  const keepsAlive = !(isOld && fields.isChunked) && fields.keepsConnection(isOld);
  const status = Number(text.slice(statusAt, statusAt + 3));
  return { status, fields, keepsAlive, keepAliveTime: timeOf(fields.keepAlive) };
}

function timeOf(value: string): number | undefined {
  if (value === "") return undefined;
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** RFC 9112 4; the reason may be left out, and the space before it. */
const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** Where the minor version and the status stand in that line. */
const [minorAt, statusAt] = [7, 9];
