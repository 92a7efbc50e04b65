import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxied-connections.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import { list, shortText } from "../schema/schema.ts";

/** Proxies that say for whom they make connections (HAProxy's PROXY protocol), as configured. */
export interface ProxyProtocolConfig {
  readonly settings: ProxyProtocolSettings;
  readonly origin: Origin;
}

/** Which proxies may say so, in both forms. */
export const trustedSources = list(
  shortText("An address, or a range in CIDR notation.", {
    format: "cidr",
    examples: ["10.0.0.0/8"],
  }),
  {
    minItems: 1,
    maxItems: 64,
    description:
      "The proxies; everybody when unset. A connection of anybody else is closed; where headers are optional it is its own, whatever it brings.",
  },
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
