import { headerValue } from "../../headers/header-list.ts";
import { type Http1Lines, isTokenCode } from "../../http1/fields.ts";
import { type ReceivedFields, readReceivedFields } from "../../http1/received-fields.ts";
import { isTargetCode, SERVED_METHODS } from "../../http1/request-line.ts";

/** The head of a request (RFC 9112 3, 5), and what it says of what follows. */
export interface Http1RequestHead {
  readonly method: string;
  readonly target: string;
  /** `1.1` or `1.0`. */
  readonly version: string;
  readonly fields: ReceivedFields;
  /** Bytes of the body; 0: there is none. */
  readonly body: number | "chunked";
  /** Another request may follow on the connection. */
  readonly keepsAlive: boolean;
  /** The client sends its body once a 100 asks for it. */
  readonly expectsContinue: boolean;
  readonly acceptsTrailers: boolean;
  /** The protocol that the client asks for; undefined: none that a backend may speak. */
  readonly upgrade: string | undefined;
}

/**
 * Reads a head without the empty line behind it. A string is what is wrong. `validateRequest` goes by the same methods, target
 * codes and fields for every protocol; here they are checked early, so that nothing behind a malformed head is read.
 */
export function readRequestHead(lines: Http1Lines): Http1RequestHead | string {
  const line = plainRequestLine(lines) ?? anyRequestLine(lines);
  if (line === undefined) return "no valid request line";
  const { method, target, version } = line;
  if (!SERVED_METHODS.has(method)) return "a method that nobody knows";
  const fields = readReceivedFields(lines, line.next);
  if (typeof fields === "string") return fields;
  const { length = 0, isChunked, te } = fields;
  const isOld = version === "1.0";
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
  if (isOld && isChunked) return "chunks in HTTP/1.0";
  const expectation = isOld ? undefined : fields.expect;
  const body = isChunked ? "chunked" : length;
  return {
    method,
    target,
    version,
    fields,
    body,
    keepsAlive: fields.keepsConnection(isOld),
    expectsContinue: expectation !== undefined,
    acceptsTrailers: te !== "" && !isOld && TRAILERS_TOKEN.test(te),
    upgrade:
      !fields.namesConnectionHeaders ||
      isOld ||
      body !== 0 ||
      !UPGRADE_TOKEN.test(fields.connection)
        ? undefined
        : protocolOf(headerValue(fields.list, "upgrade")),
  };
}

/** Other versions of HTTP, and TLS around it, would pass behind the back of the policies (RFC 9113 3.1, RFC 2817). */
function protocolOf(upgrade: string | undefined): string | undefined {
  if (upgrade === undefined || /(?:^|[,\s])(?:h2c?|http|tls)(?=[/,\s]|$)/i.test(upgrade))
    return undefined;
  return upgrade;
}

/** A request line (RFC 9112 3), and where the first field stands behind it. */
interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly next: number;
}

/** Reads one of HTTP/1.1 with one space between its parts, as nearly all are; undefined: it is another one, or none. */
function plainRequestLine({ text, bytes, start }: Http1Lines): RequestLine | undefined {
  let methodEnd = start;
  while (isTokenCode[bytes[methodEnd] ?? 0] === 1) methodEnd++;
  let targetEnd = methodEnd + 1;
  while (isTargetCode(bytes[targetEnd] ?? 0)) targetEnd++;
  if (bytes[methodEnd] !== 0x20 || targetEnd === methodEnd + 1) return undefined;
  for (let i = 0; i < behindTarget.length; i++) {
    if (bytes[targetEnd + i] !== behindTarget[i]) return undefined;
  }
  const method = text.slice(0, methodEnd - start);
  const target = text.slice(methodEnd + 1 - start, targetEnd - start);
  return { method, target, version: "1.1", next: targetEnd + behindTarget.length - start };
}

function anyRequestLine({ text }: Http1Lines): RequestLine | undefined {
  const lineEnd = text.indexOf("\r\n");
  const line = REQUEST_LINE.exec(text.slice(0, lineEnd));
  if (line === null) return undefined;
  const [, method = "", target = "", version = ""] = line;
  return { method, target, version, next: lineEnd + 2 };
}

const behindTarget = Buffer.from(" HTTP/1.1\r\n");

/** RFC 9112 3: more than one space is forgiven, as nobody reads it in another way. */
const REQUEST_LINE = /^([A-Z][A-Z-]*) +([\x21-\x7e]+) +HTTP\/(1\.[01])$/;

const TRAILERS_TOKEN = /(?:^|,)\s*trailers\s*(?:$|[,;])/i;
const UPGRADE_TOKEN = /(?:^|,)\s*upgrade\s*(?:,|$)/;
