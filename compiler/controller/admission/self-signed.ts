import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its key, PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate of servers that signs itself (X.509 version 3, RFC 5280; ECDSA with P-256), for these names or addresses. */
export function selfSigned(hosts: readonly string[], days: number): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(oid(COMMON_NAME), utf8("gwc controller"))));
  const from = new Date(Date.now() - CLOCK_SKEW);
  const until = new Date(Date.now() + days * DAY);
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const certificate = sequence(
    // Version 3.
    element(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions(hosts))),
  );
  const signature = sign("sha256", certificate, privateKey);
  const whole = sequence(certificate, algorithm, bitString(signature));
  return {
    cert: pem("CERTIFICATE", whole),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const DAY = 24 * 60 * 60 * 1000;
/** Clocks of others may be behind, by milliseconds. */
const CLOCK_SKEW = 60 * 60 * 1000;

const COMMON_NAME = "2.5.4.3";
const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
const BASIC_CONSTRAINTS = "2.5.29.19";
const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";

function extensions(hosts: readonly string[]): readonly Buffer[] {
  const names = hosts.map((host) =>
    isIP(host) === 0
      ? element(0x82, Buffer.from(host, "latin1"))
      : element(0x87, addressBytes(host)),
  );
  const isAuthority = element(0x01, Buffer.from([0xff]));
  return [
    sequence(oid(BASIC_CONSTRAINTS), isAuthority, octets(sequence(isAuthority))),
    sequence(oid(SUBJECT_ALTERNATIVE_NAME), octets(sequence(...names))),
    sequence(oid(EXTENDED_KEY_USAGE), octets(sequence(oid(SERVER_AUTHENTICATION)))),
  ];
}

/** The bytes of an IP address (RFC 5280 4.2.1.6). */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const words = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - words(head).length - words(tail).length;
  const all = [...words(head), ...Array.from({ length: missing }, () => "0"), ...words(tail)];
  return Buffer.from(all.map((word) => word.padStart(4, "0")).join(""), "hex");
}

/** An element of ASN.1 in DER (X.690): its tag, its length, its content. */
function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const { length } = Buffer.concat(content);
  const size = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, ...size]), ...content]);
}

function sequence(...content: readonly Buffer[]): Buffer {
  return element(0x30, ...content);
}

function set(...content: readonly Buffer[]): Buffer {
  return element(0x31, ...content);
}

function integer(bytes: Buffer): Buffer {
  return element(0x02, bytes);
}

function octets(content: Buffer): Buffer {
  return element(0x04, content);
}

function bitString(content: Buffer): Buffer {
  return element(0x03, Buffer.from([0]), content);
}

function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

/** UTCTime: of years until 2049. */
function time(at: Date): Buffer {
  const [date = "", clock = ""] = at.toISOString().split("T");
  const text = `${date.slice(2).replaceAll("-", "")}${clock.slice(0, 8).replaceAll(":", "")}Z`;
  return element(0x17, Buffer.from(text));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 127];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 127) | 128);
    return groups;
  });
  return element(0x06, Buffer.from(bytes));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
