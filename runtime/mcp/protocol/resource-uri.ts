/**
 * Returns the ways in which servers may read the URI of a resource; the first is the URI as sent. The others are normalized
 * as in RFC 3986 6.2.2 and the WHATWG URL parser (case of scheme and host, encodings, dot segments, `localhost` in file
 * URLs ...), decoded, and with non-ASCII characters encoded. A URI in its usual form has one reading.
 */
export function uriReadings(uri: string): readonly string[] {
  if (!UNUSUAL.test(uri)) return [uri];
  const readings = new Set([uri]);
  let text = uri;
  for (let decoding = 0; decoding <= MAX_DECODINGS; decoding++) {
    const canonical = canonicalUri(text);
    readings.add(canonical);
    readings.add(encoded(canonical));
    const decoded = decodedText(text);
    if (decoded === text) break;
    text = decoded;
  }
  return [...readings];
}

/** Maximum number of nested encodings that are decoded. */
const MAX_DECODINGS = 3;

/** Characters and sequences that a URI in its usual form does not have. */
const UNUSUAL =
  /[%\\#@\s\0-\x1f\x7f-\u{10ffff}]|\/\.|\/\/.*\/\/|\/$|^[^:/]*[A-Z]|^[^:/]*:\/\/[^/?]*(?:[A-Z:]|\.(?:[/?]|$))|^file:(?!\/\/\/[^/])|^file:.*\?/su;

/** Schemes in whose URLs a backslash is a slash (WHATWG URL 4.1). */
const SPECIAL_SCHEMES: ReadonlySet<string> = new Set([
  ...["file", "ftp", "http", "https", "ws", "wss"],
]);

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  ftp: "21",
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
};

function canonicalUri(uri: string): string {
  const text = trimmed(uri).replace(/[\t\r\n]/g, "");
  const [, name = "", rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  if (name === "") return text;
  const scheme = name.toLowerCase();
  const [beforeFragment = ""] = rest.split("#", 1);
  const mark = beforeFragment.indexOf("?");
  const [before, query] =
    mark === -1
      ? [beforeFragment, ""]
      : [beforeFragment.slice(0, mark), beforeFragment.slice(mark)];
  const hierarchy = SPECIAL_SCHEMES.has(scheme) ? before.replaceAll("\\", "/") : before;
  if (scheme === "file") return `file://${filePath(hierarchy)}`;
  const [, authority, path = hierarchy] = /^\/\/([^/]*)(.*)$/s.exec(hierarchy) ?? [];
  if (authority === undefined)
    return `${scheme}:${path.startsWith("/") ? withoutDots(normalEncodings(path)) : normalEncodings(path)}${normalEncodings(query)}`;
  const plain = withoutDots(normalEncodings(path));
  const isRoot = plain === "/" && DEFAULT_PORTS[scheme] === undefined;
  return `${scheme}://${normalAuthority(scheme, authority)}${isRoot ? "" : plain}${normalEncodings(query)}`;
}

/**
 * Normalizes the path of a file on this machine. Local host names, queries and trailing slashes have no meaning and are
 * removed.
 */
function filePath(hierarchy: string): string {
  const [, host = "", path = hierarchy] = /^\/\/([^/]*)(.*)$/s.exec(hierarchy) ?? [];
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])?$/i.test(normalEncodings(host));
  const plain = withoutDots(normalEncodings(path.startsWith("/") ? path : `/${path}`));
  const whole = plain.length > 1 ? plain.replace(/\/$/, "") : plain;
  return isLocal ? whole : `${normalAuthority("file", host)}${whole}`;
}

function normalAuthority(scheme: string, authority: string): string {
  const host = normalEncodings(authority.slice(authority.lastIndexOf("@") + 1)).toLowerCase();
  const [, name = host, port = ""] = /^(.*?)(?::(\d*))?$/s.exec(host) ?? [];
  const isDefault = port === "" || Number(port) === Number(DEFAULT_PORTS[scheme]);
  return `${name.replace(/\.$/, "")}${isDefault ? "" : `:${Number(port)}`}`;
}

/** Decodes unreserved characters and writes other encodings in upper case (RFC 3986 6.2.2.2). */
function normalEncodings(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (found) => {
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : found.toUpperCase();
  });
}

/** Removes dot segments (RFC 3986 5.2.4) and collapses repeated slashes. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === "..") kept.pop();
    if (segment === ".." || segment === "." || segment === "") {
      if (isLast) kept.push("");
    } else kept.push(segment);
  }
  return path === "" ? "" : `/${kept.join("/")}`;
}

/** Decodes all encodings except those that are not UTF-8. */
function decodedText(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (found) => {
    try {
      return decodeURIComponent(found);
    } catch {
      return normalEncodings(found);
    }
  });
}

function encoded(text: string): string {
  return text.replace(/[^\0-\x7f]+/g, (found) => encodeURIComponent(found.toWellFormed()));
}

function trimmed(text: string): string {
  return text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "");
}
