/** An origin as browsers write it (RFC 6454, section 4): lower case, without the scheme's own port. */
export function canonicalOrigin(origin: string): string {
  const lower = origin.toLowerCase();
  if (lower.startsWith("https://")) return lower.replace(/:443$/, "");
  return lower.startsWith("http://") ? lower.replace(/:80$/, "") : lower;
}
