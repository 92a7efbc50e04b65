import { declareFunctions } from "./declaration.ts";

const test = (name: string, helper: string, doc: string, address: string, value: string) => ({
  helper: `functions/net#${helper}`,
  doc,
  signatures: [`ip.${name}(): bool`],
  example: [`ip("${address}").${name}()`, value] as const,
});

/** Addresses, networks, headers and URIs. */
export const httpFunctions = declareFunctions({
  ip: {
    helper: "functions/net#ip",
    doc: "An IP address; for a network, the one before its slash.",
    signatures: ["ip(string): ip", "cidr.ip(): ip"],
    example: ['string(ip("2001:DB8:0:0::1"))', '"2001:db8::1"'],
  },
  isIP: {
    helper: "functions/net#isIp",
    doc: "Whether a string is an IP address.",
    signatures: ["isIP(string): bool"],
    example: ['isIP("10.0.0.256")', "false"],
  },
  "ip.isCanonical": {
    helper: "functions/net#isCanonical",
    doc: "Whether an IP address has its canonical form.",
    signatures: ["ip.isCanonical(string): bool"],
    example: ['ip.isCanonical("2001:DB8::1")', "false"],
  },
  family: {
    helper: "functions/net#family",
    doc: "4 or 6.",
    signatures: ["ip.family(): int"],
    example: ['ip("::1").family()', "6"],
  },
  isLoopback: test("isLoopback", "isLoopback", "127.0.0.0/8 and ::1.", "127.0.0.9", "true"),
  isUnspecified: test("isUnspecified", "isUnspecified", "0.0.0.0 and ::.", "::", "true"),
  isPrivate: test(
    "isPrivate",
    "isPrivate",
    "10/8, 172.16/12, 192.168/16, fc00::/7.",
    "10.1.2.3",
    "true",
  ),
  isLinkLocalUnicast: test(
    "isLinkLocalUnicast",
    "isLinkLocalUnicast",
    "169.254/16 and fe80::/10.",
    "fe80::1",
    "true",
  ),
  isLinkLocalMulticast: test(
    "isLinkLocalMulticast",
    "isLinkLocalMulticast",
    "224.0.0/24 and ff02::/16.",
    "224.0.0.1",
    "true",
  ),
  isGlobalUnicast: test(
    "isGlobalUnicast",
    "isGlobalUnicast",
    "Whether it is an ordinary address, including private ones.",
    "192.168.0.1",
    "true",
  ),
  cidr: {
    helper: "functions/net#cidr",
    doc: "A network.",
    signatures: ["cidr(string): cidr"],
    example: ['string(cidr("10.0.0.0/8"))', '"10.0.0.0/8"'],
  },
  isCIDR: {
    helper: "functions/net#isCidr",
    doc: "Whether a string is a network.",
    signatures: ["isCIDR(string): bool"],
    example: ['isCIDR("10.0.0.0/33")', "false"],
  },
  containsIP: {
    helper: "functions/net#containsIp",
    doc: "Whether a network contains an address.",
    signatures: ["cidr.containsIP(ip): bool", "cidr.containsIP(string): bool"],
    example: ['cidr("10.0.0.0/8").containsIP("10.1.2.3")', "true"],
  },
  containsCIDR: {
    helper: "functions/net#containsCidr",
    doc: "Whether a network contains another.",
    signatures: ["cidr.containsCIDR(cidr): bool", "cidr.containsCIDR(string): bool"],
    example: ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', "true"],
  },
  prefixLength: {
    helper: "functions/net#prefixLength",
    doc: "The prefix length of the network.",
    signatures: ["cidr.prefixLength(): int"],
    example: ['cidr("10.0.0.0/8").prefixLength()', "8"],
  },
  masked: {
    helper: "functions/net#masked",
    doc: "The network with all other bits cleared.",
    signatures: ["cidr.masked(): cidr"],
    example: ['string(cidr("10.1.2.3/8").masked())', '"10.0.0.0/8"'],
  },
  cookie: {
    helper: "functions/http#cookie",
    doc: "The first cookie with a name in a Cookie header. Rules read all of them: see Repeated headers.",
    signatures: ["string.cookie(string): string"],
    example: ['"a=1; b=2".cookie("b")', '"2"'],
  },
  query: {
    helper: "functions/http#query",
    doc: "The first value of a query parameter, decoded. Rules read every value: see Repeated headers.",
    signatures: ["string.query(string): string"],
    example: ['"/x?a=1&b=2".query("b")', '"2"'],
  },
  addQuery: {
    helper: "functions/http#addQuery",
    doc: "The URI with an additional query parameter.",
    signatures: ["string.addQuery(string, string): string"],
    example: ['"/x?a=1".addQuery("b", "2")', '"/x?a=1&b=2"'],
  },
  setQuery: {
    helper: "functions/http#setQuery",
    doc: "The URI with a query parameter that replaces all of the same name.",
    signatures: ["string.setQuery(string, string): string"],
    example: ['"/x?a=1".setQuery("a", "2")', '"/x?a=2"'],
  },
});
