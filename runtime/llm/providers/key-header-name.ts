import type { KeyHeader, KeyHeaderName } from "./provider.ts";

/** The header in which a provider reads the key of a request. */
export function keyHeaderName(header: KeyHeader, path: string): KeyHeaderName {
  if (typeof header === "string") return header;
  return path.includes(header.prefix) ? header.header : header.otherwise;
}
