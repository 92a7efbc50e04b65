import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import { addressRanges } from "../schema/address-ranges.ts";

/** Settings of HAProxy's PROXY protocol, in which proxies report the address of a client. */
export interface ProxyProtocolConfig {
  readonly settings: ProxyProtocolSettings;
  readonly origin: Origin;
}

/** Schema of the trusted proxies, for files and manifests. */
export const trustedSources = addressRanges(
  "The trusted proxies; everyone if unset. Connections from other addresses are closed; if headers are optional, they are accepted and their headers ignored.",
);

/** Resolves the settings of files and manifests, whatever the case of their words; `version` defaults to 2. */
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
