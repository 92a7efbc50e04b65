import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * Addresses that a client may choose as destination: those of the public internet, and those that the configuration adds.
 * Sources: the IANA registries of special-purpose addresses (RFC 6890), and the metadata services of clouds.
 */
export class AddressRules {
  readonly #added = new BlockList();
  readonly #metadata: BlockList;
  readonly #special = SPECIAL.map(([what, ...ranges]) => ({ what, list: listOf(ranges) }));
  readonly #global = listOf(["2000::/3"]);

  /** `added`: addresses and ranges such as `10.0.0.0/8`. Metadata services are only allowed by their exact address. */
  constructor(added: readonly string[]) {
    const single = new Set(added.map((range) => range.replace(/\/(32|128)$/, "")));
    this.#metadata = listOf(METADATA.filter((address) => !single.has(address)));
    for (const range of added) add(this.#added, range);
  }

  /** Returns why an address may not be reached, for the log; `undefined` if it may. */
  refusal(address: string): string | undefined {
    if (isIP(address) === 0) return `${address} is not an address`;
    if (isIPv6(address) && mapped.check(address, "ipv6")) return `${address} is ${EMBEDDED}`;
    if (covers(this.#metadata, address)) return `${address} is a metadata service`;
    if (covers(this.#added, address)) return undefined;
    const range = this.#special.find(({ list }) => covers(list, address));
    if (range !== undefined) return `${address} is ${range.what}`;
    if (isIPv6(address) && !covers(this.#global, address)) return `${address} is not public`;
    return undefined;
  }
}

const EMBEDDED = "an IPv4 address within an IPv6 one";

/** IPv4-mapped addresses (RFC 4291 2.5.5.2), which lists of IPv4 ranges would miss. They are never allowed. */
const mapped = listOf(["::ffff:0:0/96"]);

const METADATA = [
  // Used by most clouds, and by containers and pods of one of them.
  ...["169.254.169.254", "169.254.170.2", "169.254.170.23"],
  ...["100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ...["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"],
];

const SPECIAL: readonly (readonly [string, ...string[]])[] = [
  ["unspecified", "0.0.0.0/8", "::/128"],
  ["loopback", "127.0.0.0/8", "::1/128"],
  ["link-local", "169.254.0.0/16", "fe80::/10"],
  ["private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"],
  ["shared within a network", "100.64.0.0/10"],
  ["multicast", "224.0.0.0/4", "ff00::/8"],
  // Translated (RFC 6052, 8215), 6to4 (RFC 3056), Teredo (RFC 4380).
  [EMBEDDED, "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"],
  [
    "reserved",
    ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"],
    ...["203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20"],
  ],
];

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) add(list, range);
  return list;
}

function add(list: BlockList, range: string): void {
  const [address = "", prefix] = range.split("/");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

function covers(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
