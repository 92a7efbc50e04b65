/**
 * Ids and progress tokens of requests that servers make: two servers may choose the same one, so behind a merged route the
 * client sees `"gwc-<target>:<the server's own, as JSON text>"`. Nothing has to be remembered to find the way back, so any
 * replica can.
 */

/** A server's id as the client sees it; both are JSON text. */
export function aggregateId(index: number, id: string): string {
  return JSON.stringify(`gwc-${index}:${id}`);
}

/** The target's place and its own id; undefined when the id isn't one of `aggregateId`. Both are JSON text. */
export function splitId(
  merged: string,
): { readonly index: number; readonly id: string } | undefined {
  if (!merged.startsWith('"gwc-')) return undefined;
  // A JSON string token parses to a string.
  const parts = /^gwc-(\d{1,3}):(.+)$/s.exec(JSON.parse(merged) as string);
  const id = parts?.[2] ?? "";
  // A client can write anything here: only a string or a number becomes an id again.
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
