import { isIPv4, isIPv6 } from "node:net";
import { Box } from "../values/values.ts";

/** An IP address: its version, 4 or 6, and its bits. */
class Ip extends Box {
  readonly kind = "ip";
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }

  equals(other: unknown): boolean {
    return other instanceof Ip && other.family === this.family && other.bits === this.bits;
  }

  override toString(): string {
    return this.family === 4 ? textOfV4(this.bits) : textOfV6(this.bits);
  }
}

/** A network: an address and the length of its prefix. */
class Cidr extends Box {
  readonly kind = "cidr";
  readonly address: Ip;
  readonly length: number;

  constructor(address: Ip, length: number) {
    super();
    this.address = address;
    this.length = length;
  }

  equals(other: unknown): boolean {
    return (
      other instanceof Cidr && other.length === this.length && this.address.equals(other.address)
    );
  }

  /** Whether an address belongs to the network. */
  contains(address: Ip): boolean {
    if (address.family !== this.address.family) return false;
    const rest = BigInt(widthOf(address.family) - this.length);
    return address.bits >> rest === this.address.bits >> rest;
  }

  override toString(): string {
    return `${this.address}/${this.length}`;
  }
}

/** `ip(text)`: an IPv4 or IPv6 address without a zone; IPv4-mapped IPv6 addresses are refused. */
export function ip(text: unknown): Ip | undefined {
  if (text instanceof Ip) return text;
  if (typeof text !== "string") return undefined;
  if (isIPv4(text)) return new Ip(4, bitsOfV4(text));
  if (!isIPv6(text) || text.includes("%") || text.includes(".")) return undefined;
  const bits = bitsOfV6(text);
  return bits >> 32n === 0xffffn ? undefined : new Ip(6, bits);
}

/** `isIP(text)`. */
export function isIp(text: unknown): boolean | undefined {
  return typeof text === "string" ? ip(text) !== undefined : undefined;
}

/** `ip.isCanonical(text)`: whether it equals `string(ip(text))`. */
export function isCanonical(text: unknown): boolean | undefined {
  const address = ip(text);
  return address === undefined ? undefined : address.toString() === text;
}

/** `cidr(text)`: `10.0.0.0/8`. */
export function cidr(text: unknown): Cidr | undefined {
  if (text instanceof Cidr) return text;
  if (typeof text !== "string") return undefined;
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = ip(match?.[1]);
  if (match === null || address === undefined) return undefined;
  const length = Number(match[2]);
  return length <= widthOf(address.family) ? new Cidr(address, length) : undefined;
}

/** `isCIDR(text)`. */
export function isCidr(text: unknown): boolean | undefined {
  return typeof text === "string" ? cidr(text) !== undefined : undefined;
}

/** `ip.family()`: 4 or 6. */
export function family(address: unknown): number | undefined {
  return address instanceof Ip ? address.family : undefined;
}

/** `cidr.containsIP(ip)`; also accepts a string. */
export function containsIp(network: unknown, address: unknown): boolean | undefined {
  const inner = ip(address);
  return network instanceof Cidr && inner !== undefined ? network.contains(inner) : undefined;
}

/** `cidr.containsCIDR(cidr)`; also accepts a string. */
export function containsCidr(network: unknown, other: unknown): boolean | undefined {
  const inner = cidr(other);
  if (!(network instanceof Cidr) || inner === undefined) return undefined;
  return inner.length >= network.length && network.contains(inner.address);
}

/** `cidr.ip()`: the address before the slash. */
export function addressOf(network: unknown): Ip | undefined {
  return network instanceof Cidr ? network.address : undefined;
}

/** `cidr.prefixLength()`. */
export function prefixLength(network: unknown): number | undefined {
  return network instanceof Cidr ? network.length : undefined;
}

/** `cidr.masked()`: the network with the bits after the prefix cleared. */
export function masked(network: unknown): Cidr | undefined {
  if (!(network instanceof Cidr)) return undefined;
  const { address, length } = network;
  const rest = BigInt(widthOf(address.family) - length);
  return new Cidr(new Ip(address.family, (address.bits >> rest) << rest), length);
}

/** `ip.isLoopback()`: 127.0.0.0/8, ::1. */
export function isLoopback(address: unknown): boolean | undefined {
  return isIn(address, "127.0.0.0/8", "::1/128");
}

/** `ip.isUnspecified()`: 0.0.0.0, ::. */
export function isUnspecified(address: unknown): boolean | undefined {
  return isIn(address, "0.0.0.0/32", "::/128");
}

/** `ip.isLinkLocalUnicast()`: 169.254.0.0/16, fe80::/10. */
export function isLinkLocalUnicast(address: unknown): boolean | undefined {
  return isIn(address, "169.254.0.0/16", "fe80::/10");
}

/** `ip.isLinkLocalMulticast()`: 224.0.0.0/24, ff02::/16. */
export function isLinkLocalMulticast(address: unknown): boolean | undefined {
  return isIn(address, "224.0.0.0/24", "ff02::/16");
}

/** `ip.isPrivate()`: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7. */
export function isPrivate(address: unknown): boolean | undefined {
  return isIn(address, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7");
}

/** `ip.isGlobalUnicast()`: not a broadcast, unspecified, loopback, multicast or link-local address. */
export function isGlobalUnicast(address: unknown): boolean | undefined {
  const isOther = isIn(
    address,
    "255.255.255.255/32",
    "0.0.0.0/32",
    "::/128",
    "127.0.0.0/8",
    "::1/128",
    "224.0.0.0/4",
    "ff00::/8",
    "169.254.0.0/16",
    "fe80::/10",
  );
  return isOther === undefined ? undefined : !isOther;
}

function isIn(address: unknown, ...networks: readonly string[]): boolean | undefined {
  if (!(address instanceof Ip)) return undefined;
  return networks.some((network) => cidr(network)?.contains(address) ?? false);
}

function widthOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}

function bitsOfV4(text: string): bigint {
  return text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function bitsOfV6(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array.from({ length: missing }, () => "0"), ...last];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function textOfV4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((by) => (bits >> by) & 0xffn).join(".");
}

/** Replaces the longest run of two or more zero groups by `::` (RFC 5952). */
function textOfV6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) => (bits >> BigInt(112 - 16 * at)) & 0xffffn);
  let [start, length] = [0, 0];
  for (let from = 0; from < 8; from += 1) {
    const end = groups.findIndex((group, at) => at >= from && group !== 0n);
    const run = (end < 0 ? 8 : end) - from;
    if (run > length) [start, length] = [from, run];
  }
  const write = (part: readonly bigint[]) => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return write(groups);
  return `${write(groups.slice(0, start))}::${write(groups.slice(start + length))}`;
}
