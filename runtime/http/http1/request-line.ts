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
