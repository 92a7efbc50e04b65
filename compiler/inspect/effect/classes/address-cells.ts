import { BlockList, isIPv4 } from "node:net";
import type { Work } from "../work/work.ts";
import type { ScalarClasses } from "./scalar-classes.ts";

/** Number of bits in an address of each family. */
const BITS = { ipv4: 32n, ipv6: 128n } as const;

type Family = keyof typeof BITS;

/** Divides IP addresses into classes by the networks and addresses that conditions compare them with. */
export function addressCells(
  networks: ReadonlySet<string>,
  addresses: readonly string[],
  add: (example: string) => number,
  work: Work,
): ScalarClasses<string> {
  const lists = [...networks].map(blockList);
  const vector = (address: string): string =>
    [
      ...lists.map((list) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6")),
      ...addresses.map((each) => each === address),
    ].join();
  const classes = new Map<string, number>();
  const offer = (address: string): void => {
    work.spend(8 * lists.length + addresses.length);
    const key = vector(address);
    if (!classes.has(key)) classes.set(key, add(address));
  };
  for (const each of addresses) offer(each);
  for (const each of ["8.8.8.8", "2001:db8:ffff::8"]) offer(each);
  for (const network of networks) for (const each of edgesOf(network)) offer(each);
  return { classOf: (value) => classes.get(vector(value)) ?? -1, isComplete: true };
}

function blockList(network: string): BlockList {
  const list = new BlockList();
  const [address = "", length] = network.split("/");
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  list.addSubnet(address, length === undefined ? Number(BITS[family]) : Number(length), family);
  return list;
}

/** Lists the first and last addresses of a network with their neighbors, and the second inner address in case the first one is compared with itself. */
function edgesOf(network: string): readonly string[] {
  const [address = "", length = ""] = network.split("/");
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const bits = BITS[family];
  const host = length === "" ? 0n : bits - BigInt(length);
  const low = (numberOf(address, family) >> host) << host;
  const high = low + (1n << host) - 1n;
  return [low - 1n, low, low + 1n, low + 2n, high - 1n, high, high + 1n]
    .filter((each) => each >= 0n && each < 1n << bits)
    .map((each) => textOf(each, family));
}

function numberOf(address: string, family: Family): bigint {
  if (family === "ipv4")
    return address.split(".").reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head = "", tail] = address.split("::");
  const words = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));
  const [front, back] = [words(head), words(tail ?? "")];
  const missing = Array.from({ length: 8 - front.length - back.length }, () => "0");
  const all = tail === undefined ? front : [...front, ...missing, ...back];
  return all.reduce((sum, word) => (sum << 16n) + BigInt(`0x${word}`), 0n);
}

function textOf(address: bigint, family: Family): string {
  if (family === "ipv4")
    return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
  const words = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  return words.join(":").replace(/(?:^|:)0(?::0)+(?::|$)/, "::");
}
