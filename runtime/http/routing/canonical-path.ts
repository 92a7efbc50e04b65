/**
 * The one form of a request path that routes match, rules see, logs show and upstreams get, so that none of them reads
 * another path than the others: percent-encodings of unreserved characters are decoded once and others written in upper
 * case, repeated slashes are one, `.` and `..` segments are resolved (RFC 3986 6.2.2). Undefined for what two servers may
 * read differently: an encoded `/`, `\` or NUL, a raw `\`, a broken encoding, a dot segment before `;`, parameters of
 * no segment (`/;a/b`), and a path that climbs above the root. `path` begins with `/` and has no query. With `keepsSlashes` an encoded `/` or `\` stays what it
 * is, a part of its segment: for who forwards the path as it was sent.
 */
export function canonicalPath(path: string, keepsSlashes = false): string | undefined {
  if (!SUSPECT.test(path)) return path;
  const decoded = path.includes("%") ? decodeUnreserved(path, keepsSlashes) : path;
  if (decoded === undefined || decoded.includes("\\")) return undefined;
  return resolveSegments(decoded.slice(1).split("/"));
}

/** The same of a request target in origin form: its query stays as it is. */
export function canonicalTarget(target: string, keepsSlashes = false): string | undefined {
  const queryAt = target.indexOf("?");
  if (queryAt === -1) return canonicalPath(target, keepsSlashes);
  const sent = target.slice(0, queryAt);
  const path = canonicalPath(sent, keepsSlashes);
  if (path === sent) return target;
  return path === undefined ? undefined : `${path}${target.slice(queryAt)}`;
}

/** What a path in its one form never has: most paths are seen to be in it by this alone. */
const SUSPECT = /[%\\]|\/\/|\/\.|\.;|\/;/;

/** Two hexadecimal digits, or whatever stands in their place. */
const ENCODING = /%(.{0,2})/g;

function decodeUnreserved(path: string, keepsSlashes: boolean): string | undefined {
  let isAmbiguous = false;
  const decoded = path.replace(ENCODING, (_, digits: string) => {
    if (!/^[0-9a-f]{2}$/i.test(digits)) isAmbiguous = true;
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    if (character === "\0") isAmbiguous = true;
    if (!keepsSlashes && (character === "/" || character === "\\")) isAmbiguous = true;
    return /[\w.~-]/.test(character) ? character : `%${digits.toUpperCase()}`;
  });
  return isAmbiguous ? undefined : decoded;
}

function resolveSegments(segments: readonly string[]): string | undefined {
  const kept: string[] = [];
  // What ends in a dot segment or a slash names a folder, whose path ends in a slash.
  let isFolder = false;
  for (const [index, segment] of segments.entries()) {
    isFolder = segment === "" || segment === "." || segment === "..";
    if (segment === "..") {
      if (kept.pop() === undefined) return undefined;
    } else if (!isFolder) {
      if (DOTS_WITH_PARAMETERS.test(segment)) return undefined;
      if (index < segments.length - 1 && PARAMETERS_ALONE.test(segment)) return undefined;
      kept.push(segment);
    }
  }
  const path = kept.map((segment) => `/${segment}`).join("");
  return isFolder ? `${path}/` : path;
}

/** Servers that strip parameters see a dot segment, others do not. */
const DOTS_WITH_PARAMETERS = /^\.{1,2}(?:;|%3B)/;

/** Servers that strip parameters see two slashes. At the end they see the folder: `/;jsessionid=1` is what some of them make. */
const PARAMETERS_ALONE = /^(?:;|%3B)/;
