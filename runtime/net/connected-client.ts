import type { ClientCertificate, WorkloadIdentity } from "../cel/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { MaybePromise } from "../process/maybe-promise.ts";
import type { OnAbort } from "../process/on-abort.ts";
import { type AlternativeName, alternativeNames } from "./alternative-names.ts";

/** A client after it has connected; where the gateway terminates TLS, after its handshake. */
export interface ConnectedClient {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly peerAddress: string;
  readonly peerPort: number;
  /** Address of the gateway that the client has connected to. */
  readonly localAddress: string;
  readonly localPort: number;
  /** Server name of the TLS handshake; absent without one, and before TLS that is passed on has sent it. */
  readonly serverName?: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** Whether a client may connect. If not, `rule` is the one that forbids it: for the log, never for the client. */
export interface ConnectionVerdict {
  readonly isAllowed: boolean;
  readonly rule: string;
}

/** Decides whether clients may connect (connection-rules.ts, which only bundles with rules contain). */
export interface ConnectionRules {
  /** Returns the verdict about a client; a promise if a server is asked. */
  readonly verdict: (
    client: ConnectedClient,
    context: { readonly metrics: Metrics; readonly onAbort: OnAbort },
  ) => MaybePromise<ConnectionVerdict>;
  /**
   * Calls one of the functions, at once if no server is asked; neither if the client has left. `denied` gets the rule that
   * forbids the client to connect.
   */
  readonly judge: (
    connection: AddressedConnection,
    metrics: Metrics,
    allowed: () => void,
    denied: (rule: string) => void,
  ) => void;
}

/** A connection with the client's address, such as a socket. */
export interface AddressedConnection extends PeerConnection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** The proxy that announced the client; absent without one. */
  readonly peerAddress?: string | undefined;
  readonly peerPort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** Server name of the TLS handshake, as a socket of node:tls has it. */
  readonly servername?: unknown;
  readonly destroyed: boolean;
  on(event: "error" | "close", listener: () => void): unknown;
  off(event: "error" | "close", listener: () => void): unknown;
}

/** Returns the client of a connection. `sniffed`: server name of TLS that is passed on; absent if the connection has it. */
export function connectedClient(
  connection: AddressedConnection,
  sniffed?: string,
): ConnectedClient {
  const { servername = sniffed } = connection;
  return {
    remoteAddress: plainAddress(connection.remoteAddress),
    remotePort: connection.remotePort ?? 0,
    peerAddress: plainAddress(connection.peerAddress ?? connection.remoteAddress),
    peerPort: connection.peerPort ?? connection.remotePort ?? 0,
    localAddress: plainAddress(connection.localAddress),
    localPort: connection.localPort ?? 0,
    serverName: typeof servername === "string" ? servername.toLowerCase() : undefined,
    get clientCertificate() {
      return clientCertificate(connection);
    },
  };
}

/** Converts an IPv4-mapped address of an IPv6 socket to plain IPv4. */
export function plainAddress(address = ""): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

/** A connection that may have a client certificate, such as a socket of node:tls. */
export interface PeerConnection {
  /** Whether the certificate was verified. */
  readonly authorized?: boolean | undefined;
  /** Absent without TLS. */
  getPeerX509Certificate?(): ShownCertificate | undefined;
}

/** A certificate as Node describes it: names with one part per line. */
export interface ShownCertificate {
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  readonly subjectAltName: string | undefined;
  /** Its bytes (DER). */
  readonly raw: Uint8Array;
}

/** Returns the verified client certificate of a connection; `undefined` without one. */
export function clientCertificate(connection: PeerConnection): ClientCertificate | undefined {
  const shown = connection.authorized === true ? connection.getPeerX509Certificate?.() : undefined;
  if (shown === undefined) return undefined;
  const names = alternativeNames(shown.subjectAltName ?? "");
  return {
    subject: distinguishedName(shown.subject),
    issuer: distinguishedName(shown.issuer),
    get pem() {
      return pemOf(shown.raw);
    },
    subjectCn: commonName(shown.subject),
    subjectAltNames: names.map(({ value }) => value),
    spiffeId: names.find(isSpiffeId)?.value,
    identity: names.map(identityOf).find((identity) => identity !== undefined),
  };
}

function pemOf(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString("base64")
    .replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/**
 * Formats a name as RFC 4514 does, which starts with the last part. Node has one part per line, escaped alike, in the order of
 * the certificate.
 */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? "").split("\n").reverse().join(",");
}

function commonName(lines: string | undefined): string | undefined {
  const line = (lines ?? "").split("\n").findLast((each) => each.startsWith("CN="));
  return line?.slice("CN=".length).replace(/\\([0-9A-Fa-f]{2}|.)/g, unescaped);
}

/** Decodes RFC 4514 2.4: a character after a backslash, or two digits of a byte. */
function unescaped(_whole: string, escaped: string): string {
  return escaped.length === 1 ? escaped : String.fromCharCode(Number.parseInt(escaped, 16));
}

function isSpiffeId({ type, value }: AlternativeName): boolean {
  return type === "URI" && value.startsWith("spiffe://");
}

/** Parses the SPIFFE ID `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/SERVICE_ACCOUNT`. */
function identityOf({ type, value }: AlternativeName): WorkloadIdentity | undefined {
  if (type !== "URI") return undefined;
  const parts = /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(value);
  if (parts === null) return undefined;
  const [, trustDomain = "", namespace = "", serviceAccount = ""] = parts;
  return { trustDomain, namespace, serviceAccount };
}
