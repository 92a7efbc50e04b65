import { isIPv4, isIPv6 } from "node:net";

/** The client that a proxy announces. */
export interface ProxiedClient {
  readonly address: string;
  readonly port: number;
}

/** Result of reading a PROXY protocol header. */
export type ProxyHeader =
  /** The bytes may be the start of a header. */
  | { readonly kind: "more" }
  /** The bytes are something else. */
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly why: string }
  | {
      readonly kind: "header";
      readonly version: 1 | 2;
      /** Number of bytes; those of the client start after them. */
      readonly length: number;
      /** `undefined` if the proxy opened the connection for itself (health checks), or does not know the client. */
      readonly client: ProxiedClient | undefined;
    };

const firstText = Buffer.from("PROXY ");
const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** Maximum length of a header of version 1 (2.1 of the specification), and of a header of version 2 that is read. */
const MAX_TEXT = 107;
const MAX_BINARY = 2048;

/** Reads the header of HAProxy's PROXY protocol (version 1 or 2) that may start a connection. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, firstText)) {
    return bytes.length < firstText.length ? { kind: "more" } : readText(bytes);
  }
  if (beginsLike(bytes, signature)) {
    return bytes.length < 16 ? { kind: "more" } : readBinary(bytes);
  }
  return { kind: "none" };
}

function readText(bytes: Buffer): ProxyHeader {
  const line = bytes.toString("latin1", 0, MAX_TEXT);
  const end = line.indexOf("\r\n");
  if (end < 0) {
    return bytes.length < MAX_TEXT ? { kind: "more" } : malformed("a line over the size limit");
  }
  const header = { kind: "header", version: 1, length: end + 2 } as const;
  const [, family, ...rest] = line.slice(0, end).split(" ");
  if (family === "UNKNOWN") return { ...header, client: undefined };
  const [source = "", destination = "", port = "", to = ""] = rest;
  const isAddress = family === "TCP4" ? isIPv4 : family === "TCP6" ? isPlainV6 : undefined;
  if (isAddress === undefined || rest.length !== 4) return malformed("malformed line of version 1");
  if (!isAddress(source) || !isAddress(destination)) return malformed("no address");
  if (!isPort(port) || !isPort(to)) return malformed("no port");
  const address = family === "TCP6" ? canonicalV6(source) : source;
  return { ...header, client: { address, port: Number(port) } };
}

/** Whether a string is an IPv6 address without a zone, which would be local to a machine. */
function isPlainV6(text: string): boolean {
  return isIPv6(text) && !text.includes("%");
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65_535;
}

function readBinary(bytes: Buffer): ProxyHeader {
  const command = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const rest = bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) return malformed("unknown command of version 2");
  if (rest > MAX_BINARY) return malformed("a header over the size limit");
  const length = 16 + rest;
  if (bytes.length < length) return { kind: "more" };
  const header = { kind: "header", version: 2, length } as const;
  const addresses = addressBytes.get(family);
  // The start of the extensions is unknown for an unknown address family.
  const fault =
    addresses === undefined || addresses > rest
      ? undefined
      : extensionFault(bytes.subarray(0, length), 16 + addresses);
  // A proxy that opened the connection for itself may send any address.
  if (command === 0x20 || family === 0x00)
    return fault === "checksum" ? malformed(WRONG_CHECKSUM) : { ...header, client: undefined };
  if (fault !== undefined)
    return malformed(fault === "checksum" ? WRONG_CHECKSUM : "extensions of an invalid length");
  if (family === 0x11 && rest >= 12) {
    const address = [...bytes.subarray(16, 20)].join(".");
    return { ...header, client: { address, port: bytes.readUInt16BE(24) } };
  }
  if (family === 0x21 && rest >= 36) {
    const groups = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => bytes.readUInt16BE(16 + at));
    const address = canonicalV6(groups.map((group) => group.toString(16)).join(":"));
    return { ...header, client: { address, port: bytes.readUInt16BE(48) } };
  }
  return malformed("no TCP over IPv4 or IPv6");
}

const WRONG_CHECKSUM = "wrong checksum";

/** Number of bytes of the addresses, by family and transport (2.2). */
const addressBytes: ReadonlyMap<number, number> = new Map([
  ...([0x11, 0x12] as const).map((family) => [family, 12] as const),
  ...([0x21, 0x22] as const).map((family) => [family, 36] as const),
  ...([0x31, 0x32] as const).map((family) => [family, 216] as const),
]);

/** `PP2_TYPE_CRC32C` */
const CHECKSUM = 0x03;

/**
 * Checks the extensions (type, length, value) after the addresses. A checksum covers the header with the checksum's own bytes
 * as zeros (2.2.3). Returns `undefined` if all is well.
 */
function extensionFault(header: Buffer, from: number): "checksum" | "length" | undefined {
  let at = from;
  while (at + 3 <= header.length) {
    const value = at + 3;
    const end = value + header.readUInt16BE(at + 1);
    if (end > header.length) return "length";
    if (header[at] === CHECKSUM) {
      if (end - value !== 4) return "checksum";
      const zeroed = Buffer.from(header).fill(0, value, end);
      if (crc32c(zeroed) !== header.readUInt32BE(value)) return "checksum";
    }
    at = end;
  }
  return at === header.length ? undefined : "length";
}

/** Formats an address as Node does for its own connections. */
function canonicalV6(address: string): string {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return text;
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return `::ffff:${[24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".")}`;
}

function malformed(why: string): ProxyHeader {
  return { kind: "malformed", why };
}

/** Whether two strings are equal up to the shorter one's length. */
function beginsLike(bytes: Buffer, text: Buffer): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.compare(text, 0, length, 0, length) === 0;
}

/** Computes a CRC-32C (RFC 9260, appendix A). */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});
