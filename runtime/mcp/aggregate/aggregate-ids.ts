/**
 * Ids and progress tokens of requests from servers. Two servers may choose the same one, so behind a merged route the
 * client sees `"gwc-<target>:<the server's own, as JSON text>"`. Mapping back needs no state, so any replica can do it.
 */

/** Returns the client's version of a server's id; both are JSON text. */
export function aggregateId(index: number, id: string): string {
  return JSON.stringify(`gwc-${index}:${id}`);
}

/**
 * Returns the index of the target and its own id; `undefined` if the id was not made by `aggregateId`. Both ids are JSON
 * text.
 */
export function splitId(
  merged: string,
): { readonly index: number; readonly id: string } | undefined {
  if (!merged.startsWith('"gwc-')) return undefined;
  // A JSON string token parses to a string.
  const parts = /^gwc-(\d{1,3}):(.+)$/s.exec(JSON.parse(merged) as string);
  const id = parts?.[2] ?? "";
  // Clients can send anything here: only a string or a number becomes an id again.
  if (parts === null || !isToken(id)) return undefined;
  return { index: Number(parts[1]), id };
}

function isToken(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" || typeof value === "number";
  } catch {
    return false;
  }
}
