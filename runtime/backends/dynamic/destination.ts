import { isIP, isIPv4, isIPv6 } from "node:net";

/** A host and port that a client chose. */
export interface Destination {
  /** Lower case; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Why a client's choice is refused. `forbidden`: some readers would understand another destination. */
export interface NoDestination {
  readonly fault: "malformed" | "forbidden";
  /** For the log. */
  readonly why: string;
}

const HOST_NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Labels that `inet_aton` takes for numbers of an IPv4 address: `2130706433`, `0x7f.1`, `127.1`, `0177.0.0.1`. */
const NUMBER_LABEL = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** Parses `host`, `host:port` or `[v6]:port`, all lower case. */
export function readDestination(
  authority: string,
  defaultPort: number,
): Destination | NoDestination {
  const [, bracketed, plain = "", digits = ""] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{0,5}))?$/.exec(authority) ?? [];
  const port = digits === "" ? defaultPort : Number(digits);
  const host = bracketed ?? plain;
  if (host === "") return { fault: "malformed", why: "no host" };
  if (port === 0 || port > 65_535) return { fault: "malformed", why: "invalid port" };
  if (bracketed !== undefined ? isIPv6(host) : isIPv4(host)) return { host, port };
  if (host.length > 253 || !HOST_NAME.test(host)) {
    return { fault: "malformed", why: "not a host name" };
  }
  // Some readers connect to an address, others look up a name: rules about the one would miss the other.
  if (NUMBER_LABEL.test(host))
    return { fault: "forbidden", why: "an address in an unusual notation" };
  return { host, port };
}

/** Whether a host is an address, which needs no name resolution. */
export function isAddress({ host }: Destination): boolean {
  return isIP(host) !== 0;
}
