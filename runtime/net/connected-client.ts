import type { ClientCertificate, WorkloadIdentity } from "../cel/variables.ts";

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

/** A connection as far as its client may have shown a certificate; a socket of node:tls is one as it is. */
export interface PeerConnection {
  /** True when the certificate was verified. */
  readonly authorized?: boolean | undefined;
  /** Absent without TLS. */
  getPeerX509Certificate?(): ShownCertificate | undefined;
}

/** What node says of a certificate: names with a part on each line. */
export interface ShownCertificate {
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  readonly subjectAltName: string | undefined;
}

/** What the certificate says that the client of a connection has shown and that was verified; undefined without one. */
export function clientCertificate(connection: PeerConnection): ClientCertificate | undefined {
  const shown = connection.authorized === true ? connection.getPeerX509Certificate?.() : undefined;
  if (shown === undefined) return undefined;
  const names = alternativeNames(shown.subjectAltName ?? "");
  return {
    subject: distinguishedName(shown.subject),
    issuer: distinguishedName(shown.issuer),
    subjectCn: commonName(shown.subject),
    subjectAltNames: names.map(({ value }) => value),
    identity: names.map(identityOf).find((identity) => identity !== undefined),
  };
}

/** Node has a part on each line, escaped as RFC 4514 has it, in the order of the certificate; the RFC begins at the end. */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? "").split("\n").reverse().join(",");
}

function commonName(lines: string | undefined): string | undefined {
  const line = (lines ?? "").split("\n").findLast((each) => each.startsWith("CN="));
  return line?.slice("CN=".length).replace(/\\([0-9A-Fa-f]{2}|.)/g, unescaped);
}

/** RFC 4514 2.4: a character after a backslash, or two digits of a byte. */
function unescaped(_whole: string, escaped: string): string {
  return escaped.length === 1 ? escaped : String.fromCharCode(Number.parseInt(escaped, 16));
}

interface AlternativeName {
  readonly type: string;
  readonly value: string;
}

/** `DNS:a, URI:b`; a value that could be taken for more than one is quoted as JSON. */
function alternativeNames(text: string): readonly AlternativeName[] {
  return Array.from(text.matchAll(ALTERNATIVE_NAME), ([, type = "", value = ""]) => ({
    type,
    value: value.startsWith('"') ? JSON.parse(value) : value,
  }));
}

const ALTERNATIVE_NAME = /(?:^|, )([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** SPIFFE: `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/SERVICE_ACCOUNT`. */
function identityOf({ type, value }: AlternativeName): WorkloadIdentity | undefined {
  if (type !== "URI") return undefined;
  const parts = /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(value);
  if (parts === null) return undefined;
  const [, trustDomain = "", namespace = "", serviceAccount = ""] = parts;
  return { trustDomain, namespace, serviceAccount };
}
