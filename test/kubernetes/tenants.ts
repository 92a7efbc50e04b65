/** A manifest of a tenant. */
export interface TenantObject {
  readonly [field: string]: unknown;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
}

const gw = "gateway.networking.k8s.io/v1";
const own = "gwc.dev/v1alpha1";

function ref(kind: string, name: string): object {
  const group = kind === "Service" ? "" : "gateway.networking.k8s.io";
  return { group, kind, name };
}

/** The Gateway, and what a tenant has on it. */
export const tenant: readonly TenantObject[] = [
  {
    apiVersion: gw,
    kind: "GatewayClass",
    metadata: { name: "gwc" },
    spec: { controllerName: "gwc.dev/gateway" },
  },
  {
    apiVersion: gw,
    kind: "Gateway",
    metadata: { name: "g" },
    spec: {
      gatewayClassName: "gwc",
      allowedListeners: { namespaces: { from: "Same" } },
      listeners: [
        { name: "http", port: 8080, protocol: "HTTP" },
        { name: "tcp", port: 9000, protocol: "TCP" },
        { name: "tls", port: 9001, protocol: "TLS", tls: { mode: "Passthrough" } },
      ],
    },
  },
  {
    apiVersion: gw,
    kind: "HTTPRoute",
    metadata: { name: "a" },
    spec: {
      parentRefs: [{ name: "g" }],
      hostnames: ["a.example.com"],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/a" } }],
          backendRefs: [{ name: "a", port: 80 }],
        },
      ],
    },
  },
  { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: own,
    kind: "GatewayPolicy",
    metadata: { name: "a" },
    spec: {
      targetRefs: [ref("HTTPRoute", "a")],
      traffic: {
        authorization: {
          action: "Deny",
          policy: { matchExpressions: ['request.path == "/a/secret"'] },
        },
      },
    },
  },
];
/** An object of each other kind, of another tenant. */
export const others: readonly TenantObject[] = [
  {
    apiVersion: gw,
    kind: "ListenerSet",
    metadata: { name: "x" },
    spec: {
      parentRef: { name: "g" },
      listeners: [
        {
          name: "extra",
          port: 8081,
          protocol: "HTTPS",
          hostname: "x.example.com",
          tls: { mode: "Terminate", certificateRefs: [{ name: "x" }] },
          allowedRoutes: { kinds: [{ kind: "HTTPRoute" }], namespaces: { from: "All" } },
        },
      ],
    },
  },
  {
    apiVersion: gw,
    kind: "HTTPRoute",
    metadata: { name: "x" },
    spec: {
      parentRefs: [{ name: "g", sectionName: "http", port: 8080 }],
      hostnames: ["x.example.com"],
      rules: [
        {
          name: "one",
          matches: [
            {
              path: { type: "PathPrefix", value: "/x" },
              method: "GET",
              headers: [{ name: "v", type: "Exact", value: "1" }],
              queryParams: [{ name: "q", value: "2" }],
            },
          ],
          filters: [
            {
              type: "RequestHeaderModifier",
              requestHeaderModifier: { set: [{ name: "a", value: "b" }], remove: ["c"] },
            },
            { type: "RequestMirror", requestMirror: { backendRef: { name: "x", port: 80 } } },
          ],
          timeouts: { request: "1s" },
          retry: { attempts: 1 },
          sessionPersistence: { type: "Cookie" },
          backendRefs: [
            {
              name: "x",
              port: 80,
              weight: 2,
              filters: [
                {
                  type: "ResponseHeaderModifier",
                  responseHeaderModifier: { add: [{ name: "a", value: "b" }] },
                },
              ],
            },
            { group: "gwc.dev", kind: "GatewayBackend", name: "x", weight: 1 },
          ],
        },
        {
          matches: [{ path: { value: "/mcp" } }],
          backendRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name: "tools" }],
        },
        {
          matches: [{ path: { value: "/v1" } }],
          backendRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name: "models" }],
        },
        {
          matches: [{ path: { value: "/pool" } }],
          backendRefs: [{ group: "inference.networking.k8s.io", kind: "InferencePool", name: "x" }],
        },
      ],
    },
  },
  {
    apiVersion: gw,
    kind: "GRPCRoute",
    metadata: { name: "x" },
    spec: {
      parentRefs: [{ name: "g", sectionName: "http" }],
      hostnames: ["grpc.example.com"],
      rules: [
        {
          matches: [
            { method: { service: "a.B", method: "C" }, headers: [{ name: "v", value: "1" }] },
          ],
          backendRefs: [{ name: "x", port: 80 }],
        },
      ],
    },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1alpha2",
    kind: "TCPRoute",
    metadata: { name: "x" },
    spec: {
      parentRefs: [{ name: "g", sectionName: "tcp" }],
      rules: [{ backendRefs: [{ name: "x", port: 80 }] }],
    },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1alpha2",
    kind: "TLSRoute",
    metadata: { name: "x" },
    spec: {
      parentRefs: [{ name: "g", sectionName: "tls" }],
      hostnames: ["tls.example.com"],
      rules: [{ backendRefs: [{ name: "x", port: 80 }] }],
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "x" },
    spec: { ports: [{ port: 80, name: "http", appProtocol: "http" }], selector: { a: "b" } },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "x", labels: { "kubernetes.io/service-name": "x" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
    ports: [{ name: "http", port: 80 }],
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "x" },
    data: { "tls.crt": "YQ==", "tls.key": "YQ==", Authorization: "YQ==", ".htaccess": "YQ==" },
  },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { "ca.crt": "" } },
  {
    apiVersion: "inference.networking.k8s.io/v1",
    kind: "InferencePool",
    metadata: { name: "x" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      targetPorts: [{ number: 80 }],
      endpointPickerRef: { name: "x", port: { number: 80 } },
    },
  },
  {
    apiVersion: own,
    kind: "GatewayBackend",
    metadata: { name: "x" },
    spec: {
      static: { host: "x.example.com", port: 80 },
      policies: {
        tcp: { connectTimeout: "1s" },
        http: { version: "HTTP1", requestTimeout: "2s" },
        tls: { sni: "x.example.com", caCertificateRefs: [{ name: "x" }] },
        auth: { secretRef: { name: "x" } },
      },
    },
  },
  {
    apiVersion: own,
    kind: "GatewayBackend",
    metadata: { name: "tools" },
    spec: {
      mcp: {
        targets: [
          { name: "t", static: { host: "t.example.com", port: 80, protocol: "StreamableHTTP" } },
        ],
      },
      policies: {
        mcp: { authorization: { policy: { matchExpressions: ['mcp.tool.name == "a"'] } } },
      },
    },
  },
  {
    apiVersion: own,
    kind: "GatewayBackend",
    metadata: { name: "models" },
    spec: {
      ai: { provider: { openai: { model: "gpt-4" } } },
      policies: {
        auth: { secretRef: { name: "x" } },
        ai: { promptGuard: { request: [{ regex: { matches: ["x"], action: "Reject" } }] } },
      },
    },
  },
  {
    apiVersion: own,
    kind: "GatewayPolicy",
    metadata: { name: "x" },
    spec: {
      targetRefs: [ref("HTTPRoute", "x")],
      traffic: {
        cors: { allowOrigins: ["https://a"], allowMethods: ["GET"] },
        jwtAuthentication: {
          mode: "Strict",
          providers: [{ issuer: "i", audiences: ["a"], jwks: { inline: '{"keys":[]}' } }],
        },
        authorization: { policy: { matchExpressions: ['jwt.sub == "x"'] } },
        rateLimit: { local: [{ requests: 1, unit: "Minutes" }] },
        extAuth: { backendRef: { name: "x", port: 80 }, grpc: {} },
        transformation: { request: { set: [{ name: "a", value: '"b"' }] } },
        timeouts: { request: "1s" },
      },
      backend: { http: { version: "HTTP2" } },
    },
  },
  {
    apiVersion: own,
    kind: "GatewayPolicy",
    metadata: { name: "basic" },
    spec: {
      targetRefs: [ref("GRPCRoute", "x")],
      traffic: { basicAuthentication: { secretRef: { name: "x" } } },
    },
  },
  {
    apiVersion: gw,
    kind: "BackendTLSPolicy",
    metadata: { name: "x" },
    spec: {
      targetRefs: [ref("Service", "x")],
      validation: {
        hostname: "x",
        caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "x" }],
      },
    },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: "x", namespace: "other" },
    spec: {
      from: [{ group: "", kind: "x", namespace: "default" }],
      to: [{ group: "", kind: "Secret" }],
    },
  },
];
