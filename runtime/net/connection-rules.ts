import type { ClientCertificate } from "../cel/variables.ts";
import { clientCertificate, type PeerConnection } from "../tls/client-certificate.ts";

/** A client as it is known once it has connected, and TLS with it has begun where it ends here. */
export interface ConnectedClient {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** Says whether a client may connect, and if not, which rule forbids it: for the log, never for the client. */
export type ConnectionRules = (client: ConnectedClient) => {
  readonly isAllowed: boolean;
  readonly rule: string;
};

/** A connection whose client has an address; a socket of node is one as it is. */
export interface AddressedConnection extends PeerConnection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Which rule forbids a client to connect; undefined: none. */
export function forbiddingRule(
  connection: AddressedConnection,
  rules: ConnectionRules | undefined,
): string | undefined {
  if (rules === undefined) return undefined;
  const client: ConnectedClient = {
    remoteAddress: plainAddress(connection.remoteAddress),
    remotePort: connection.remotePort ?? 0,
    get clientCertificate() {
      return clientCertificate(connection);
    },
  };
  const { isAllowed, rule } = rules(client);
  return isAllowed ? undefined : rule;
}

/** An address of IPv4 that a socket of IPv6 has, as IPv4 writes it. */
export function plainAddress(address = ""): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
