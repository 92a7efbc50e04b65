/** Whether a path is the prefix or lies below it, by whole segments (Gateway API `PathPrefix`). */
export function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

/** The path of a request target. */
export function pathIn(target: string): string {
  return target.slice(0, pathEnd(target));
}

/** A request target with another path; the query stays. */
export function replacePath(target: string, path: string): string {
  return `${path}${target.slice(pathEnd(target))}`;
}

/**
 * A request target with `replacement` in the place of the first of the prefixes that it begins with (Gateway API
 * ReplacePrefixMatch): `/a/b` with `/a` replaced by `/x` is `/x/b`, by nothing `/b`. Prefixes and the replacement end
 * without a slash; the empty prefix is every path's.
 */
export function replacePrefix(
  target: string,
  prefixes: readonly string[],
  replacement: string,
): string {
  const end = pathEnd(target);
  const path = target.slice(0, end);
  for (const prefix of prefixes) {
    if (!isUnder(path, prefix)) continue;
    const rest = path.slice(prefix.length);
    const changed = `${replacement}${rest}`;
    return `${changed === "" ? "/" : changed}${target.slice(end)}`;
  }
  return target;
}

function pathEnd(target: string): number {
  const query = target.indexOf("?");
  return query === -1 ? target.length : query;
}

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
