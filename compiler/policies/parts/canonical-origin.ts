/** Returns an origin as browsers send it (RFC 6454, section 4): in lower case, without the scheme's default port. */
export function canonicalOrigin(origin: string): string {
  const lower = origin.toLowerCase();
  if (lower.startsWith("https://")) return lower.replace(/:443$/, "");
  return lower.startsWith("http://") ? lower.replace(/:80$/, "") : lower;
}
