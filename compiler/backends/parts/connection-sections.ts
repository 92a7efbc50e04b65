import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { Section, Traffic } from "../../model/traffic.ts";

/** The sections that say how a backend is reached, by their names in manifests; a file may have another name. */
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

/** What the section of a name in manifests acts on; nothing when there is none. */
export function actsOnOfConnection(name: string): readonly Traffic[] {
  return PARTS.flatMap((part) => (part === name ? rows[part].actsOn : []));
}

/** The keys of a file's `policies` that act on any of the traffic. */
export function connectionKeys(traffic: readonly Traffic[]): readonly string[] {
  return PARTS.map((part) => rows[part]).flatMap(({ fileKey, actsOn }) =>
    actsOn.some((each) => traffic.includes(each)) ? [fileKey] : [],
  );
}

/** The sections of a file that say how a backend is reached. */
export function sectionsOf(policies: BackendPolicies): readonly Section[] {
  return PARTS.flatMap((part) => {
    const section = policies[part];
    const { fileKey: name, actsOn } = rows[part];
    return section === undefined ? [] : [{ name, actsOn, origin: section.origin }];
  });
}
