/** Whether a path is the prefix or lies below it, by whole segments (Gateway API `PathPrefix`). */
export function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}
