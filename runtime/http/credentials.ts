import type { Exchange } from "./exchange.ts";

/** Where a credential stands in a request. */
export interface CredentialPlace {
  /** Lower case. */
  readonly header: string;
  /** What stands before it, with its space; compared without regard to case. Empty: nothing. */
  readonly prefix: string;
}

/** The credential of a request; undefined without one. */
export function credentialIn(
  exchange: Exchange,
  { header, prefix }: CredentialPlace,
): string | undefined {
  const value = exchange.header(header);
  if (value === undefined) return undefined;
  if (prefix === "") return value.trim();
  if (value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return value.slice(prefix.length).trim();
}
