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
