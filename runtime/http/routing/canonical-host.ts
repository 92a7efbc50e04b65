/**
 * RFC 9110 7.2: a name of letters, digits and hyphens (RFC 1123 2.1) with a dot at its end or none, an IPv4 address or an
 * IPv6 literal, with an optional port.
 */
const PATTERN = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*\.?|\[[0-9a-f]*:[0-9a-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * What may stand in Host (lower case), without a dot at the end of the name: `a.test.` is `a.test`, for listeners and
 * upstreams alike. Undefined for anything else, percent signs and empty labels among it: another server could read it as
 * another name.
 */
export function canonicalHost(text: string): string | undefined {
  if (!PATTERN.test(text)) return undefined;
  return text.endsWith(".") || text.includes(".:") ? text.replace(/\.(?=:|$)/, "") : text;
}
