import { type Http1Lines, isValueCode } from "../../http1/fields.ts";
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
  const { text, bytes, start } = lines;
  const lineEnd = statusLineEnd(bytes, start);
  if (lineEnd < 0) return "no valid status line";
  const fields = readReceivedFields(lines, lineEnd + 2 - start);
  if (typeof fields === "string") return fields;
  const isOld = text.charCodeAt(minorAt) === 0x30;
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
  const keepsAlive = !(isOld && fields.isChunked) && fields.keepsConnection(isOld);
  const status = Number(text.slice(statusAt, statusAt + 3));
  return { status, fields, keepsAlive, keepAliveTime: timeOf(fields.keepAlive) };
}

/** Where the line of the status ends (RFC 9112 4); its reason may be left out, and the space before it. Negative: it is none. */
function statusLineEnd(bytes: Uint8Array, start: number): number {
  for (let i = 0; i < version.length; i++) if (bytes[start + i] !== version[i]) return -1;
  const minor = bytes[start + minorAt];
  if ((minor !== 0x30 && minor !== 0x31) || bytes[start + minorAt + 1] !== 0x20) return -1;
  const status = start + statusAt;
  if (bytes[status] === 0x30) return -1;
  for (let i = status; i < status + 3; i++) if (!isDigit(bytes[i] ?? 0)) return -1;
  let end = status + 3;
  if (bytes[end] === 0x20) while (isValueCode[bytes[end] ?? 0] === 1) end++;
  return bytes[end] === 13 && bytes[end + 1] === 10 ? end : -1;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function timeOf(value: string): number | undefined {
  if (value === "") return undefined;
  const seconds = TIMEOUT.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

const TIMEOUT = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i;

const version = Buffer.from("HTTP/1.");
/** Where the minor version and the status stand behind that. */
const [minorAt, statusAt] = [7, 9];
