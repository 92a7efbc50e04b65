/** Method, target and host of a request. */
export interface RequestLine {
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** Host or `:authority`, in lower case, with its port if it has one. */
  readonly host: string;
  readonly scheme: "http" | "https";
}

/** Request line as received. */
export interface SentRequestLine extends RequestLine {
  /** Target without its query. */
  readonly path: string;
}

/** Parts that are `undefined` stay unchanged. */
export type RequestLineChanges = {
  readonly [Part in keyof RequestLine]?: RequestLine[Part] | undefined;
};

/**
 * Accepted methods: those of Node's own server. Methods are case-sensitive (RFC 9110 9.1), but some servers convert them to
 * upper case: `delete` would bypass a rule about DELETE and still delete.
 */
export const SERVED_METHODS: ReadonlySet<string> = new Set([
  ...["ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK"],
  ...["M-SEARCH", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS"],
  ...["PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND", "REPORT"],
  ...["SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"],
]);

/**
 * Whether a target may contain this code. URIs contain bytes beyond ASCII only percent-encoded (RFC 3986 2): raw, they would
 * bypass a rule about the encoding, and some servers take them for a blank.
 */
export function isTargetCode(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/**
 * RFC 9110 7.2: a name of letters, digits and hyphens (RFC 1123 2.1) with an optional final dot, an IPv4 address or an IPv6
 * literal, with an optional port.
 */
const PATTERN = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*\.?|\[[0-9a-f]*:[0-9a-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * Returns a Host (lower case) without the final dot of its name: `a.test.` is `a.test` for listeners and upstreams alike.
 * Returns `undefined` for anything else, such as percent signs and empty labels, which another server could read as another
 * name.
 */
export function canonicalHost(text: string): string | undefined {
  if (!PATTERN.test(text)) return undefined;
  return text.endsWith(".") || text.includes(".:") ? text.replace(/\.(?=:|$)/, "") : text;
}

/** Whether a method is safe (RFC 9110 9.2.1), of those whose requests usually have no body. */
export function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
