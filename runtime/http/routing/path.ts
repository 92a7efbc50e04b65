/** Whether a path equals the prefix or lies below it, by whole segments (Gateway API `PathPrefix`). */
export function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

/** Returns the path of a request target. */
export function pathIn(target: string): string {
  return target.slice(0, pathEnd(target));
}

/** Replaces the path of a request target and keeps the query. */
export function replacePath(target: string, path: string): string {
  return `${path}${target.slice(pathEnd(target))}`;
}

/**
 * Replaces the first matching prefix of a request target (Gateway API ReplacePrefixMatch): `/a/b` with `/a` replaced by `/x` is
 * `/x/b`, by nothing `/b`. Prefixes and the replacement have no final slash; the empty prefix matches every path.
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
 * Returns the canonical form of a request path. Routes, rules, logs and upstreams all use it, so that none reads another path
 * than the others: percent-encodings of unreserved characters are decoded once and others written in upper case, repeated
 * slashes are merged, `.` and `..` segments are resolved (RFC 3986 6.2.2). Returns `undefined` if servers may read the path
 * differently: an encoded `/`, `\` or NUL, a raw `\`, a broken encoding, a dot segment before `;`, parameters without a segment
 * (`/;a/b`), or a path that climbs above the root. `path` begins with `/` and has no query. With `keepsSlashes`, an encoded `/`
 * or `\` stays as a part of its segment, for paths that are forwarded as received.
 */
export function canonicalPath(path: string, keepsSlashes = false): string | undefined {
  if (!SUSPECT.test(path)) return path;
  const decoded = path.includes("%") ? decodeUnreserved(path, keepsSlashes) : path;
  if (decoded === undefined || decoded.includes("\\")) return undefined;
  return resolveSegments(decoded.slice(1).split("/"));
}

/** Returns the canonical form of a target in origin form. The query stays unchanged. */
export function canonicalTarget(target: string, keepsSlashes = false): string | undefined {
  const queryAt = target.indexOf("?");
  if (queryAt === -1) return canonicalPath(target, keepsSlashes);
  const sent = target.slice(0, queryAt);
  const path = canonicalPath(sent, keepsSlashes);
  if (path === sent) return target;
  return path === undefined ? undefined : `${path}${target.slice(queryAt)}`;
}

/** Characters that a canonical path never has. Most paths are recognized as canonical by this alone. */
const SUSPECT = /[%\\]|\/\/|\/\.|\.;|\/;/;

/** A percent sign with two hexadecimal digits, or other characters in their position. */
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
  // A final dot segment or slash names a folder, whose path ends in a slash.
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

/** Segments in which servers that strip parameters see a dot segment, and others do not. */
const DOTS_WITH_PARAMETERS = /^\.{1,2}(?:;|%3B)/;

/**
 * Segments in which servers that strip parameters see two slashes. At the end, they see the folder: some servers produce
 * `/;jsessionid=1`.
 */
const PARAMETERS_ALONE = /^(?:;|%3B)/;
