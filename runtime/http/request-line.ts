/** What a request asks, and whom. */
export interface RequestLine {
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** Host or `:authority`, lower case, with its port when it has one. */
  readonly host: string;
  readonly scheme: "http" | "https";
}

/** That of a request as it was sent. */
export interface SentRequestLine extends RequestLine {
  /** The target without its query. */
  readonly path: string;
}

/** What is undefined stays. */
export type RequestLineChanges = {
  readonly [Part in keyof RequestLine]?: RequestLine[Part] | undefined;
};

/**
 * The methods that are served: those that node's own server takes. Methods are case-sensitive (RFC 9110 9.1), but some servers
 * write them in upper case before they act on them: `delete` would pass a rule about DELETE and still delete.
 */
export const SERVED_METHODS: ReadonlySet<string> = new Set([
  ...["ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK"],
  ...["M-SEARCH", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS"],
  ...["PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND", "REPORT"],
  ...["SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"],
]);

/**
 * Whether a target may have this code. A byte beyond ASCII stands in a URI as its encoding only (RFC 3986 2): raw, it would
 * pass a rule about the encoding, and some servers take it for a blank.
 */
export function isTargetCode(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/**
 * RFC 9110 7.2: a name of letters, digits and hyphens (RFC 1123 2.1) with a dot at its end or none, an IPv4 address or an
 * IPv6 literal, with an optional port.
 */
const PATTERN = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*\.?|\[[0-9a-f]*:[0-9a-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * What may stand in Host (lower case), without a dot at the end of the name: `a.test.` is `a.test`, for listeners and
 * upstreams alike. Undefined for anything else, percent signs and empty labels among it: another server could read it as
 * another name.
 */
export function canonicalHost(text: string): string | undefined {
  if (!PATTERN.test(text)) return undefined;
  return text.endsWith(".") || text.includes(".:") ? text.replace(/\.(?=:|$)/, "") : text;
}

/** RFC 9110 9.2.1, as far as such requests have no body. */
export function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
