/**
 * Returns the parameters of a query or form; `undefined` if one is repeated, which servers and clients could read differently
 * (RFC 6749 3.1).
 */
export function uniqueParameters(encoded: string): ReadonlyMap<string, string> | undefined {
  const pairs = [...new URLSearchParams(encoded)];
  const parameters = new Map(pairs);
  return parameters.size === pairs.length ? parameters : undefined;
}
