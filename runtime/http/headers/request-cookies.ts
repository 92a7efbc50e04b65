/** Returns the first cookie of a name (RFC 6265 4.2.1). */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    if (nameOf(pair) === name) return pair.slice(pair.indexOf("=") + 1).trim();
  }
  return undefined;
}

/** Removes the cookies of a name from the header; empty if none is left. */
export function withoutCookie(header: string, name: string): string {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "" && nameOf(pair) !== name)
    .join("; ");
}

function nameOf(pair: string): string | undefined {
  const equals = pair.indexOf("=");
  return equals === -1 ? undefined : pair.slice(0, equals).trim();
}
