import type { Text } from "./texts.ts";

/** Name of one of the file's backends, which describes a server. */
export interface ServerName {
  readonly kind: "named";
  readonly name: string;
}

/** Address of a server, or the name of a backend that describes it. */
export type AddressOrName = Text | ServerName;

/** Whether an address is the name of a backend. */
export function isServerName(address: AddressOrName): address is ServerName {
  return typeof address !== "string" && address.kind === "named";
}

/** Returns the address that a file configures: a host, or the name of a backend. */
export function serverAddressOf({
  host,
  backend,
}: {
  readonly host?: Text;
  readonly backend?: string;
}): AddressOrName {
  return backend === undefined ? (host ?? "") : { kind: "named", name: backend };
}
