import type { ClientCertificate, WorkloadIdentity } from "../cel/variables.ts";

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
