import { METHODS } from "node:http";
import { headerValue } from "../../headers/header-list.ts";
import { endOfLine, type Http1Lines, readHttp1Fields } from "../../http1/fields.ts";
import { keepsConnection, readFraming } from "../../http1/framing.ts";

/** The head of a request (RFC 9112 3, 5), and what it says of what follows. */
export interface Http1RequestHead {
  readonly method: string;
  readonly target: string;
  /** `1.1` or `1.0`. */
  readonly version: string;
  /** Flat list, as it came. */
  readonly headers: string[];
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

/** The problem of a request that expects something unknown (RFC 9110 10.1.1). */
export const unknownExpectation = "an expectation that nobody knows";

/** Reads a head without the empty line behind it. A string is what is wrong. */
export function readRequestHead(lines: Http1Lines): Http1RequestHead | string {
  const { text } = lines;
  const lineEnd = endOfLine(text, 0);
  const line = requestLine.exec(text.slice(0, lineEnd));
  if (line === null) return "no valid request line";
  const [, method = "", target = "", version = ""] = line;
  if (!methods.has(method)) return "a method that nobody knows";
  const headers = readHttp1Fields(lines, lineEnd + 2);
  if (typeof headers === "string") return headers;
  const framing = readFraming(headers, text);
  if (typeof framing === "string") return framing;
  const { length = 0, isChunked, connection, te } = framing;
  const isOld = version === "1.0";
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
  if (isOld && isChunked) return "chunks in HTTP/1.0";
  const expectation = isOld ? undefined : framing.expect;
  if (expectation !== undefined && expectation.toLowerCase() !== "100-continue") {
    return unknownExpectation;
  }
  const body = isChunked ? "chunked" : length;
  return {
    method,
    target,
    version,
    headers,
    body,
    keepsAlive: keepsConnection(connection, isOld),
    expectsContinue: expectation !== undefined,
    acceptsTrailers: te !== "" && !isOld && trailersToken.test(te),
    upgrade:
      connection === "" || isOld || body !== 0 || !upgradeToken.test(connection)
        ? undefined
        : protocolOf(headerValue(headers, "upgrade")),
  };
}

/** Other versions of HTTP, and TLS around it, would pass behind the back of the policies (RFC 9113 3.1, RFC 2817). */
function protocolOf(upgrade: string | undefined): string | undefined {
  if (upgrade === undefined || /(?:^|[,\s])(?:h2c?|http|tls)(?=[/,\s]|$)/i.test(upgrade))
    return undefined;
  return upgrade;
}

/** RFC 9112 3: more than one space is forgiven, as nobody reads it in another way. */
const requestLine = /^([A-Z][A-Z-]*) +([\x21-\x7e]+) +HTTP\/(1\.[01])$/;

const methods: ReadonlySet<string> = new Set(METHODS);
const trailersToken = /(?:^|,)\s*trailers\s*(?:$|[,;])/i;
const upgradeToken = /(?:^|,)\s*upgrade\s*(?:,|$)/;
