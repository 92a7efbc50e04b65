import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { Section, Traffic } from "../../model/traffic.ts";

/** Connection policies by their names in manifests; names in a file may differ. */
const rows = {
  tcp: { fileKey: "tcp", actsOn: ["upstreams"] },
  tls: { fileKey: "backendTLS", actsOn: ["upstreamTls"] },
  http: { fileKey: "http", actsOn: ["upstreamRequests"] },
  auth: { fileKey: "backendAuth", actsOn: ["upstreamRequests"] },
  tunnel: { fileKey: "backendTunnel", actsOn: ["namedServers"] },
  ai: { fileKey: "ai", actsOn: ["llm"] },
  health: { fileKey: "health", actsOn: ["shares", "llm"] },
  requestHeaders: { fileKey: "requestHeaderModifier", actsOn: ["upstreamRequests"] },
  responseHeaders: { fileKey: "responseHeaderModifier", actsOn: ["upstreamRequests"] },
} as const satisfies Readonly<
  Record<keyof BackendPolicies, { readonly fileKey: string; readonly actsOn: readonly Traffic[] }>
>;

const PARTS = [
  ...(["tcp", "tls", "http", "auth", "tunnel", "ai", "health"] as const),
  ...(["requestHeaders", "responseHeaders"] as const),
];

/** Returns the traffic that a section acts on, by its name in manifests; empty if there is no such section. */
export function actsOnOfConnection(name: string): readonly Traffic[] {
  return PARTS.flatMap((part) => (part === name ? rows[part].actsOn : []));
}

/** Returns the keys of a file's `policies` that act on any of the traffic. */
export function connectionKeys(traffic: readonly Traffic[]): readonly string[] {
  return PARTS.map((part) => rows[part]).flatMap(({ fileKey, actsOn }) =>
    actsOn.some((each) => traffic.includes(each)) ? [fileKey] : [],
  );
}

/** Returns the connection policies that are set, as sections of a file. */
export function sectionsOf(policies: BackendPolicies): readonly Section[] {
  return PARTS.flatMap((part) => {
    const section = policies[part];
    const { fileKey: name, actsOn } = rows[part];
    return section === undefined ? [] : [{ name, actsOn, origin: section.origin }];
  });
}
