import {
  type Bound,
  cel,
  chars,
  items,
  list,
  needs,
  number,
  oneOf,
  service,
  someOf,
  span,
  tinyText,
  word,
} from "./words.ts";

export const target = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw" };
export const selector = {
  group: "gateway.networking.k8s.io",
  kind: "Gateway",
  matchLabels: { a: "b" },
};
export const policyBounds: readonly Bound[] = [
  ...oneOf("spec", { targetRefs: [target], targetSelectors: [selector] }),
  ...list("spec.targetRefs", 16, target),
  ...needs("spec.targetRefs.0", target, "group", "kind", "name"),
  ["spec", { targetSelectors: items(16, selector) }, { targetSelectors: items(17, selector) }],
  ["spec", { targetSelectors: [selector] }, { targetSelectors: [] }],
  ["spec", { targetSelectors: [selector] }, { targetSelectors: [target] }],
];

export const tls = "spec.frontend.tls";
export const httpFields = "spec.frontend.http";
export const added = { name: "a", expression: "1" };
export const frontendBounds: readonly Bound[] = [
  ["spec.frontend.tcp", { keepalive: {} }, {}],
  ...number("spec.frontend.tcp.keepalive.retries", 1, 64),
  ...span("spec.frontend.tcp.keepalive.time"),
  ...span("spec.frontend.tcp.keepalive.interval"),
  [tls, { handshakeTimeout: "15s" }, {}],
  ...span(`${tls}.handshakeTimeout`),
  ...list(`${tls}.alpnProtocols`, 16, "h2"),
  ...tinyText(`${tls}.alpnProtocols.0`),
  ...word(`${tls}.minProtocolVersion`, "1.2", "1.3"),
  ...word(`${tls}.maxProtocolVersion`, "1.2", "1.3"),
  [`${tls}.minProtocolVersion`, "1.2", "1.1"],
  ...["TLS13_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256", "TLS13_CHACHA20_POLY1305_SHA256"]
    .concat(
      ["ECDSA", "RSA"].flatMap((key) =>
        ["AES_256_GCM_SHA384", "AES_128_GCM_SHA256", "CHACHA20_POLY1305_SHA256"].map(
          (suite) => `TLS_ECDHE_${key}_WITH_${suite}`,
        ),
      ),
    )
    .flatMap((suite) => word(`${tls}.cipherSuites.0`, suite)),
  [httpFields, { maxBufferSize: 1 }, {}],
  ...number(`${httpFields}.maxBufferSize`, 1),
  ...number(`${httpFields}.http1MaxHeaders`, 1, 4096),
  ...span(`${httpFields}.http1IdleTimeout`),
  ...number(`${httpFields}.http2WindowSize`, 1),
  ...number(`${httpFields}.http2ConnectionWindowSize`, 1),
  ...number(`${httpFields}.http2FrameSize`, 16384, 1677215),
  ...span(`${httpFields}.http2KeepaliveInterval`),
  ...span(`${httpFields}.http2KeepaliveTimeout`),
  ...cel("spec.frontend.accessLog.filter"),
  ...someOf("spec.frontend.accessLog.attributes", { remove: ["a"], add: [added] }),
  ...list("spec.frontend.accessLog.attributes.remove", 32, "a"),
  ...tinyText("spec.frontend.accessLog.attributes.remove.0"),
  ["spec.frontend.accessLog.attributes.add", [added], []],
  ...needs("spec.frontend.accessLog.attributes.add.0", added, "name", "expression"),
  ["spec.frontend.accessLog.otlp", { backendRef: service }, {}],
  ...["HTTP", "GRPC"].map(
    (protocol): Bound => [
      "spec.frontend.accessLog.otlp",
      { backendRef: service, protocol },
      { backendRef: service, protocol: protocol.toLowerCase() },
    ],
  ),
  ["spec.frontend.tracing", { backendRef: service }, {}],
  ...["HTTP", "GRPC"].map(
    (protocol): Bound => [
      "spec.frontend.tracing",
      { backendRef: service, protocol },
      { backendRef: service, protocol: protocol.toLowerCase() },
    ],
  ),
  ...["randomSampling", "clientSampling"].map(
    (field): Bound => [
      "spec.frontend.tracing",
      { backendRef: service, [field]: chars(16384, "1") },
      { backendRef: service, [field]: chars(16385, "1") },
    ],
  ),
  [
    "spec.frontend.tracing",
    { backendRef: service, resources: [added] },
    { backendRef: service, resources: [{ name: "a" }] },
  ],
];

export const parametersBounds: readonly Bound[] = [
  ...word("spec.logging.format", "json", "text"),
  ...["registry", "repository", "tag", "digest", "pullPolicy"].map(
    (field): Bound => [`spec.image.${field}`, "a", 1],
  ),
  ["spec.shutdown", { min: 0, max: 31536000 }, { min: 0, max: 31536001 }],
  ["spec.shutdown", { min: 0, max: 0 }, { min: -1, max: 0 }],
  ["spec.shutdown", { min: 1, max: 1 }, { min: 1 }],
  ["spec.shutdown", { min: 1, max: 1 }, { max: 1 }],
  ["spec.mesh", { caAddress: "ca.mesh:15012", trustDomain: "b" }, { caAddress: "" }],
  ["spec.mesh", { caAddress: "https://ca.mesh" }, { caAddress: "http://ca.mesh:15012" }],
  ["spec.mesh", { caAddress: "file:///run/mesh" }, { caAddress: "file://run/mesh" }],
  ["spec.mesh", { trustDomain: "a".repeat(255) }, { trustDomain: "a".repeat(256) }],
  ["spec.mesh", { trustDomain: "a_b.c-d" }, { trustDomain: "a/b" }],
  ["spec.env", [{ name: "A", value: "b" }], [{ value: "b" }]],
  ...[
    "deployment",
    "service",
    "serviceAccount",
    "podDisruptionBudget",
    "horizontalPodAutoscaler",
  ].flatMap((each): readonly Bound[] => [
    [`spec.${each}`, { metadata: { labels: { a: "b" } }, spec: {} }, { spec: 1 }],
    [`spec.${each}.metadata.annotations`, { a: "b" }, { a: 1 }],
  ]),
  ["spec.rawConfig", { config: {} }, "config"],
];
