import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import { addressRanges } from "../schema/address-ranges.ts";

/** Proxies that say for whom they make connections (HAProxy's PROXY protocol), as configured. */
export interface ProxyProtocolConfig {
  readonly settings: ProxyProtocolSettings;
  readonly origin: Origin;
}

/** Which proxies may say so, in both forms. */
export const trustedSources = addressRanges(
  "The proxies; everybody when unset. A connection of anybody else is closed; where headers are optional it is its own, whatever it brings.",
);

/** What both forms say, whatever the case of their words; `version`: 2 where none is named. */
export function readProxyProtocol(
  {
    version = "v2",
    mode,
    trustedSources: sources,
  }: {
    readonly version?: string;
    readonly mode?: string;
    readonly trustedSources?: readonly string[];
  },
  origin: Origin,
): ProxyProtocolConfig {
  const word = version.toLowerCase();
  return {
    settings: {
      versions: word === "all" ? [1, 2] : word === "v1" ? [1] : [2],
      ...(mode?.toLowerCase() === "optional" && { isOptional: true }),
      ...(sources && { trustedSources: sources.toSorted() }),
    },
    origin,
  };
}
