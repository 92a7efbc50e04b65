import { isIP, isIPv4, isIPv6 } from "node:net";

/** A host and port that a client chose. */
export interface Destination {
  /** Lower case; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Why a client's choice is no destination. `forbidden`: it is one to some readers, and not to others. */
export interface NoDestination {
  readonly fault: "malformed" | "forbidden";
  /** For the log. */
  readonly why: string;
}

const HOST_NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** What `inet_aton` takes as a number of an IPv4 address: `2130706433`, `0x7f.1`, `127.1`, `0177.0.0.1`. */
const NUMBER_LABEL = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** Reads `host`, `host:port` or `[v6]:port`, all lower case. */
export function readDestination(
  authority: string,
  defaultPort: number,
): Destination | NoDestination {
  const [, bracketed, plain = "", digits = ""] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{0,5}))?$/.exec(authority) ?? [];
  const port = digits === "" ? defaultPort : Number(digits);
  const host = bracketed ?? plain;
  if (host === "") return { fault: "malformed", why: "no host is named" };
  if (port === 0 || port > 65_535) return { fault: "malformed", why: "no such port" };
  if (bracketed !== undefined ? isIPv6(host) : isIPv4(host)) return { host, port };
  if (host.length > 253 || !HOST_NAME.test(host)) {
    return { fault: "malformed", why: "this is no host name" };
  }
  // One reader connects to an address, another one looks up a name: rules about the one would miss the other.
  if (NUMBER_LABEL.test(host)) return { fault: "forbidden", why: "an address in an odd spelling" };
  return { host, port };
}

/** Whether a host is an address, which nobody has to look up. */
export function isAddress({ host }: Destination): boolean {
  return isIP(host) !== 0;
}
