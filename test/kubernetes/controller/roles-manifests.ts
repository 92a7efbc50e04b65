import type { TestObject } from "../../harness/kubernetes-api.ts";

const gatewayApi = "gateway.networking.k8s.io";
const pools = ["inference.networking.k8s.io", "inference.networking.x-k8s.io"] as const;

/** A definition whose fields nobody checks. */
function definition(group: string, version: string, kind: string, plural: string): TestObject {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const name = `${plural}.${group}`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name,
      annotations: { "api-approved.kubernetes.io": "unapproved, a test's own" },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          ...{ name: version, served: true, storage: true, subresources: { status: {} } },
          schema: {
            openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } },
          },
        },
      ],
    },
  };
}

/** Definitions of kinds that gateways may be made of, and that neither the Gateway API's release nor gwc brings. */
export const otherDefinitions: readonly TestObject[] = [
  definition("gateway.networking.x-k8s.io", "v1alpha1", "XListenerSet", "xlistenersets"),
  definition(pools[0], "v1", "InferencePool", "inferencepools"),
  definition(pools[1], "v1alpha2", "InferencePool", "inferencepools"),
  ...["Backend", "Model", "Parameters"].map((kind) =>
    definition(
      ...(["agentgateway.dev", "v1alpha1", `Agentgateway${kind}`] as const),
      `agentgateway${kind.toLowerCase().replace(/[dl]$/, "$&s")}`,
    ),
  ),
  definition("agentgateway.dev", "v1alpha1", "AgentgatewayPolicy", "agentgatewaypolicies"),
];

function route(kind: string, version: string, name: string, section: string, rule: string): string {
  return `
apiVersion: ${gatewayApi}/${version}
kind: ${kind}
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: front, sectionName: ${section} }]
  rules: [${rule}]${kind === "TLSRoute" ? "\n  hostnames: [a.example.com]" : ""}
---`;
}

const echo = "{ backendRefs: [{ name: echo, port: 80 }] }";

/** A Gateway that has all that is optional, and an object of each kind that has a status. */
export function objectsOfAllKinds(ports: readonly number[]): string {
  const [http, https, tcp, tls, stats, ready] = ports;
  return `${route("HTTPRoute", "v1", "web", "http", echo)}
${route("HTTPRoute", "v1", "mistaken", "http", "{ backendRefs: [{ name: nobody, port: 80 }] }")}
${pools.map((group, index) => route("HTTPRoute", "v1", `pool-${index}`, "http", `{ backendRefs: [{ group: ${group}, kind: InferencePool, name: models }] }`)).join("\n")}
${route("GRPCRoute", "v1", "calls", "http", echo)}
${route("TCPRoute", "v1alpha2", "bytes", "tcp", echo)}
${route("TLSRoute", "v1", "passed", "tls", echo)}
apiVersion: ${gatewayApi}/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: own } }
  allowedListeners: { namespaces: { from: Same } }
  listeners:
    - { name: http, port: ${http}, protocol: HTTP }
    - { name: https, port: ${https}, protocol: HTTPS, tls: { certificateRefs: [{ name: site }] } }
    - { name: tcp, port: ${tcp}, protocol: TCP }
    - { name: tls, port: ${tls}, protocol: TLS, tls: { mode: Passthrough } }
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: own }
spec:
  rawConfig:
    config: { statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}" }
  podDisruptionBudget: { spec: { minAvailable: 1 } }
  horizontalPodAutoscaler: { spec: { maxReplicas: 2 } }
---
apiVersion: ${gatewayApi}/v1
kind: Gateway
metadata: { name: nodes }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: nodes } }
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: nodes }
spec: { workload: { kind: DaemonSet } }
---
apiVersion: v1
kind: Service
metadata: { name: echo }
spec: { ports: [{ port: 80 }] }
---
apiVersion: ${gatewayApi}/v1
kind: ListenerSet
metadata: { name: more }
spec:
  parentRef: { name: front }
  listeners: [{ name: more, port: ${http}, protocol: HTTP, hostname: more.example.com }]
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XListenerSet
metadata: { name: most }
spec:
  parentRef: { name: front }
  listeners: [{ name: most, port: ${http}, protocol: HTTP, hostname: most.example.com }]
---
apiVersion: ${gatewayApi}/v1
kind: BackendTLSPolicy
metadata: { name: echo }
spec:
  targetRefs: [{ group: "", kind: Service, name: echo }]
  validation: { hostname: a.test, caCertificateRefs: [{ group: "", kind: ConfigMap, name: ca }] }
---
${["gwc.dev Gateway", "agentgateway.dev Agentgateway"]
  .map((each) => {
    const [group, prefix] = each.split(" ");
    return `
apiVersion: ${group}/v1alpha1
kind: ${prefix}Backend
metadata: { name: own }
spec: { static: { host: a.example.com, port: 80 } }
---
apiVersion: ${group}/v1alpha1
kind: ${prefix}Policy
metadata: { name: own }
spec:
  targetRefs: [{ group: ${gatewayApi}, kind: Gateway, name: front }]
  traffic: { timeouts: { request: 10s } }
---
apiVersion: ${group}/v1alpha1
kind: ${prefix}Model
metadata: { name: own }
spec:
  parentRefs: [{ name: front, sectionName: http }]
  provider: OpenAI
---`;
  })
  .join("\n")}
${pools
  .map(
    (group, index) => `
apiVersion: ${group}/${index === 0 ? "v1" : "v1alpha2"}
kind: InferencePool
metadata: { name: models }
spec:
  selector: { ${index === 0 ? "matchLabels: { app: models }" : "app: models"} }
  ${index === 0 ? "targetPorts: [{ number: 9 }]" : "targetPortNumber: 9"}
  ${index === 0 ? "endpointPickerRef" : "extensionRef"}: { name: echo${index === 0 ? ", port: { number: 80 }" : ""} }`,
  )
  .join("\n---")}
`;
}
