/** The head of a request of HTTP/2, taken apart (RFC 9113 8.3.1). */
export interface Http2Head {
  readonly method: string;
  /** The target. */
  readonly path: string;
  /** The flat header list; `:authority` is its Host. */
  readonly list: string[];
  readonly acceptsTrailers: boolean;
}

/**
 * Reads a head as a flat list with its pseudo-header fields. A string is what is wrong. nghttp2 has checked the order and
 * the presence of pseudo-header fields, refused what belongs to a connection (8.2.2) and left out fields with bytes that no
 * field has. Host comes from `:authority`; a second, other one stays in the list and is refused as two. Whether a request of
 * this method and target is served is for `validateRequest` to say, as for every protocol.
 */
export function readHttp2Head(headers: readonly string[]): Http2Head | string {
  let [method, path, scheme] = ["", "", ""];
  let authority: string | undefined;
  const list: string[] = [];
  let cookieAt = -1;
  let acceptsTrailers = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    if (name.charCodeAt(0) === COLON) {
      if (name === ":method") method = value;
      else if (name === ":path") path = value;
      else if (name === ":scheme") scheme = value;
      else if (name === ":authority") {
        authority = value;
        list.push("host", value);
      } else return "an unknown pseudo-header field";
    } else if (name === "cookie" && cookieAt !== -1) {
      // RFC 9113 8.2.3: the crumbs of a cookie are one header to everybody else.
      list[cookieAt] = `${list[cookieAt]}; ${value}`;
    } else {
      // RFC 9113 8.2.2: it says this or nothing.
      if (name === "te") acceptsTrailers = value === "trailers";
      if (name === "cookie") cookieAt = list.length + 1;
      if (name !== "host" || value !== authority) list.push(name, value);
    }
  }
  // CONNECT has none (RFC 9113 8.5). For other schemes nghttp2 checks neither path nor authority.
  if (scheme !== "http" && scheme !== "https" && method !== "CONNECT") return "no scheme of HTTP";
  return { method, path, list, acceptsTrailers };
}

const COLON = 0x3a;
