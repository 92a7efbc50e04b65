import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import { addressRanges } from "../schema/address-ranges.ts";
import { object } from "../schema/schema.ts";
import { bothForms, formFields, wordsOfForms } from "../schema/two-forms.ts";

/** Settings of HAProxy's PROXY protocol, in which proxies report the address of a client. */
export interface ProxyProtocolConfig {
  readonly settings: ProxyProtocolSettings;
  readonly origin: Origin;
}

const fields = {
  version: wordsOfForms("Accepted versions of the header.", ["v1", "v2", "all"], "v2"),
  mode: wordsOfForms(
    "Whether every connection must begin with a header.",
    ["strict", "optional"],
    "strict",
  ),
  trustedSources: bothForms(
    addressRanges(
      "The trusted proxies; everyone if unset. Connections from other addresses are closed; if headers are optional, they are accepted and their headers ignored.",
    ),
  ),
};

const description =
  "PROXY protocol (HAProxy), in which proxies in front of the gateway send the address of the client, which rules, limits and logs then use.";

/** Schemas of `proxyProtocol`. */
export const proxyProtocolSchemas = {
  file: object(formFields("file", fields), { description }),
  manifest: object(formFields("manifest", fields), { description }),
};

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
