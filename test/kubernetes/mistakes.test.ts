import { expect, it } from "vitest";
import {
  backend,
  calls,
  complaintsAbout,
  cors,
  listener,
  policy,
  route,
  target,
} from "./mistaken-manifests.ts";

/** A Gateway of its own with a route to an MCP server. */
const mcpWorld = [
  "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: mg}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 9090, protocol: HTTP}]}}",
  route(
    "mr",
    "parentRefs: [{name: mg}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: m}]}]",
  ),
  "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: m}, spec: {mcp: {targets: [{name: t, static: {host: m, port: 80}}]}}}",
].join("\n---\n");

it("the world itself has no mistakes", () => {
  expect(complaintsAbout()).toEqual([]);
});

it.each([
  {
    what: "a policy that targets a missing route",
    document: policy(target("HTTPRoute", "wen"), cors),
    said: ['missing-reference: there is no HTTPRoute "default/wen"'],
  },
  {
    what: "a policy that targets a missing rule",
    document: policy(target("HTTPRoute", "web", "alll"), cors),
    said: ['missing-section: HTTPRoute "default/web" has no "alll"'],
  },
  {
    what: "a frontend section on a listener",
    document: policy(target("Gateway", "gw", "own"), "frontend: {tls: {handshakeTimeout: 1s}}"),
    said: ['wrong-target: "frontend" cannot target "own" of Gateway "default/gw"'],
  },
  {
    what: "an access log with a field that is added twice and one that is not there",
    document: policy(
      target("Gateway", "gw"),
      "frontend: {accessLog: {attributes: {remove: [http.metod], " +
        "add: [{name: a, expression: '1'}, {name: a, expression: '2'}]}}}",
    ),
    said: [
      'duplicate-log-field: the log field "a" is added twice',
      'unknown-log-field: access lines have no field "http.metod"',
    ],
  },
  {
    what: "a traffic section on a Service",
    document: policy(target("Service", "web"), cors),
    said: ['wrong-target: "traffic" cannot target Service "default/web"'],
  },
  {
    what: "a PreRouting policy on a route",
    document: policy(target("HTTPRoute", "web"), "traffic: {phase: PreRouting, cors: {}}"),
    said: ['wrong-phase: phase: PreRouting cannot target HTTPRoute "default/web"'],
  },
  {
    what: "a PreRouting policy about the call of a backend, once for all listeners",
    document: policy(
      target("Gateway", "gw"),
      "traffic: {phase: PreRouting, timeouts: {request: 1s}}",
    ),
    said: ['not-before-routing: "timeouts" cannot run before the route is chosen'],
  },
  {
    what: "a policy on a kind that takes none",
    document: policy(target("ReferenceGrant", "g"), cors),
    said: [
      "wrong-reference-kind: a reference to a gateway.networking.k8s.io/ReferenceGrant is not allowed here",
    ],
  },
  {
    what: "targetRefs and targetSelectors at once",
    document: policy(
      `${target("Gateway", "gw")}, targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway, matchLabels: {a: b}}]`,
      cors,
    ),
    said: [
      'wrong-choice: spec needs exactly one of "targetRefs", "targetSelectors"; it has "targetRefs" and "targetSelectors"',
    ],
  },
  {
    what: "a selector that selects nothing",
    document: policy(
      "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {app: none}}]",
      cors,
    ),
    said: ['selector-without-match: no HTTPRoute of the namespace "default" has these labels'],
  },
  {
    what: "MCP rules on traffic without MCP",
    document: policy(
      target("Service", "web"),
      "backend: {mcp: {authorization: {policy: {matchExpressions: ['true']}}}}",
    ),
    said: [
      'policy-without-effect: GatewayPolicy "default/p" has no effect on anything that is served',
    ],
  },
  {
    what: "what of a Gateway's policy acts, where only MCP is served",
    document: `${policy(target("Gateway", "mg"), "traffic: {timeouts: {request: 1s}, retry: {attempts: 1}, hostRewrite: {mode: None}}")}\n---\n${mcpWorld}`,
    said: [],
  },
  {
    what: "a Gateway's policies where a route answers by itself",
    document: `${policy(target("Gateway", "gw"), "traffic: {timeouts: {request: 1s}}")}\n---\n${route(
      "r",
      "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]",
    )}`,
    said: [],
  },
  {
    what: "a Gateway that is not there",
    document: route(
      "r",
      "parentRefs: [{name: gww}], rules: [{backendRefs: [{name: web, port: 80}]}]",
    ),
    said: ['missing-reference: there is no Gateway "default/gww"'],
  },
  {
    what: "host names that do not overlap",
    document: route(
      "r",
      "parentRefs: [{name: gw}], hostnames: [a.example.org], rules: [{backendRefs: [{name: web, port: 80}]}]",
    ),
    said: [
      'not-attached: HTTPRoute "default/r" does not attach to Gateway "default/gw": their host names do not overlap',
    ],
  },
  {
    what: "a route that another one leaves nothing to",
    document: route(
      "younger",
      "parentRefs: [{kind: ListenerSet, name: set}], rules: [{matches: [{path: {value: /web/}}], backendRefs: [{name: web, port: 80}]}]",
    ).replace("metadata: {", 'metadata: {creationTimestamp: "2027-01-01T00:00:00Z", '),
    said: [
      'shadowed-route: "default/web" is never chosen on this listener: "default/younger" handles every request that it matches',
    ],
  },
  {
    what: "a namespace that the listener does not let in",
    document: route(
      "r, namespace: other",
      "parentRefs: [{name: gw, namespace: default}], rules: [{backendRefs: [{name: web, port: 80}]}]",
    ),
    said: [
      'not-attached: HTTPRoute "other/r" does not attach to Gateway "default/gw": its listeners do not let in the namespace "other"',
    ],
  },
  {
    what: "a port that the Service does not have",
    document: route(
      "r",
      "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{name: web, port: 81}]}]",
    ),
    said: ['missing-section: Service "default/web" has no "81"'],
  },
  {
    what: "a reference to a Service without a port",
    document: route(
      "r",
      "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{name: web}]}]",
    ),
    said: ['missing-port: the reference to Service "default/web" needs a port'],
  },
  {
    what: "a filter whose type says something else",
    document: route(
      "r",
      "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], filters: [{type: CORS}], backendRefs: [{name: web, port: 80}]}]",
    ),
    said: ['broken-rule: "cors" and type: CORS require each other'],
  },
  {
    what: "kinds of routes that a listener can't take",
    document: listener(
      "{name: s, port: 8443, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}, {kind: TCPRoute}, {group: a.b, kind: HTTPRoute}]}}",
    ),
    said: [
      "wrong-route-kind: a listener with protocol: HTTP does not accept TCPRoute",
      "wrong-route-kind: a listener with protocol: HTTP does not accept a.b/HTTPRoute",
    ],
  },
  {
    what: "mappings instead of strings",
    document: listener("{name: s, port: 8443, protocol: {a: b}}").replace(
      "name: tls",
      "name: tls, labels: {a: {b: c}}",
    ),
    said: [
      'wrong-type: "a" must be a string or empty, not a mapping',
      'wrong-type: "protocol" must be a string, not a mapping',
    ],
  },
  {
    what: "a certificate where no TLS is spoken",
    document: `${listener("{name: s, port: 1, protocol: HTTP, tls: {certificateRefs: [{name: c}]}}")}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: c}}`,
    said: ['tls-unused: the listener "s" has a certificate but speaks plain HTTP'],
  },
  {
    what: "two listeners of one name",
    document: listener("{name: s, port: 1, protocol: HTTP}, {name: s, port: 2, protocol: HTTP}"),
    said: ['broken-rule: Gateway "default/tls" has another listener "s"'],
  },
  {
    what: "a Secret that is absent",
    document: listener(
      "{name: s, port: 8443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{name: absent}]}}",
    ),
    said: ['missing-secret: there is no Secret "default/absent"'],
  },
  {
    what: "a Secret without the key that is read",
    document: `${listener(
      "{name: s, port: 8443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{name: half}]}}",
    )}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: half}, data: {tls.crt: x}}`,
    said: ['missing-key: Secret "default/half" has no key "tls.key"'],
  },
  {
    what: "an address that no load balancer can be asked for",
    document: listener("{name: a, port: 9090, protocol: HTTP}").replace(
      "listeners:",
      "addresses: [{type: Hostname, value: a.test}], listeners:",
    ),
    said: ['gateway-address: this address has the type "Hostname"'],
  },
  {
    what: "authorities that are no certificates",
    document: `{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, metadata: {name: t}, spec: {targetRefs: [{group: "", kind: Service, name: web}], validation: {hostname: a.test, caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: "-----BEGIN CERTIFICATE-----"}}`,
    said: ['broken-entry: "ca.crt" of ConfigMap "default/ca" ends within a certificate'],
  },
  {
    what: "a Secret of another namespace, of which pods mount a copy",
    document: [
      listener(
        "{name: s, port: 8443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{name: far, namespace: other}]}}",
      ),
      "{apiVersion: v1, kind: Secret, metadata: {name: far, namespace: other}}",
      '{apiVersion: gateway.networking.k8s.io/v1, kind: ReferenceGrant, metadata: {name: g, namespace: other}, spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: default}], to: [{group: "", kind: Secret}]}}',
    ].join("\n---\n"),
    said: [
      'secret-elsewhere: Secret "other/far" is in another namespace than the Gateway: pods mount its copy "other.far"',
    ],
  },
  {
    what: "a key set at a backend with several servers",
    document: `${policy(
      target("HTTPRoute", "web"),
      "traffic: {jwtAuthentication: {providers: [{issuer: i, jwks: {remote: {jwksPath: /k, backendRef: {group: gwc.dev, kind: GatewayBackend, name: many}}}}]}}",
    )}\n---\n{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: many}, spec: {mcp: {targets: [{name: a, static: {host: a, port: 1}}]}}}`,
    said: [
      'ambiguous-key-server: GatewayBackend "default/many" is not a server with a single address',
    ],
  },
  {
    what: "a kind that is no part of a gateway",
    document: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}",
    said: ["skipped-kind: Deployment is not part of a gateway; skipped"],
  },
  {
    what: "a misspelled kind of ours",
    document: "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolcy, metadata: {name: d}}",
    said: ['unknown-kind: gwc.dev has no kind "GatewayPolcy"'],
  },
  {
    what: "a version that is not known",
    document: "{apiVersion: gwc.dev/v1, kind: GatewayPolicy, metadata: {name: d}, spec: {}}",
    said: ['wrong-version: GatewayPolicy has no version "gwc.dev/v1"'],
  },
  {
    what: "an unknown field",
    document: policy(target("Gateway", "gw"), "traffic: {corss: {}}"),
    said: ['unknown-field: traffic has no field "corss"'],
  },
  {
    what: "a resource that nests too deep",
    document: `{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: deep}, spec: {deployment: {spec: ${"{a: ".repeat(98)}{}${"}".repeat(98)}}}}`,
    said: ["nested-too-deep: the resource is nested more than 100 levels deep"],
  },
  {
    what: "a resource with too many characters",
    document: `{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: large}, spec: {env: [{name: A, value: "${"a".repeat(262_144)}"}]}}`,
    said: ["resource-too-large: the resource has more than 262,144 characters"],
  },
  {
    what: "a resource that is declared twice",
    document: backend,
    said: ["duplicate-resource: GatewayBackend default/tools is declared twice"],
  },
  {
    what: "a route of calls whose host names have a route of requests already",
    document: calls(
      "parentRefs: [{kind: ListenerSet, name: set}], rules: [{backendRefs: [{name: web, port: 80}]}]",
    ),
    said: [
      'not-attached: GRPCRoute "default/z" does not attach to added of ListenerSet "default/set": HTTPRoute "default/tools" has its host names there, and is older',
    ],
  },
  {
    what: "calls to a backend of another protocol",
    document: [
      calls(
        "parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: m}]}]",
      ),
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: m}, spec: {mcp: {targets: [{name: t, static: {host: m, port: 80}}]}}}",
    ].join("\n---\n"),
    said: ['backend-without-grpc: gRPC calls cannot be sent to GatewayBackend "default/m"'],
  },
  {
    what: "names that no service and no method has",
    document: calls(
      "parentRefs: [{name: gw}], rules: [{matches: [{method: {service: /shop, method: a.b}}], backendRefs: [{name: web, port: 80}]}]",
    ),
    said: [
      'broken-rule: an exact service may contain letters, digits, "_" and "."',
      'broken-rule: an exact method may contain letters, digits, "_"',
    ],
  },
  {
    what: "a standalone configuration among manifests",
    document: "binds: [{port: 1, listeners: [{}]}]",
    said: [
      "mixed-forms: this is a standalone configuration, but other documents are Kubernetes manifests",
    ],
  },
  {
    what: "a selector of MCP servers that selects none",
    document:
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: none}, spec: {mcp: {targets: [{name: t, selector: {services: {matchLabels: {a: b}}}}]}}}\n---\n" +
      route(
        "r",
        "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: none}]}]",
      ),
    said: ['targets-without-match: no Service matches the selector of the target "t"'],
  },
  {
    what: "a selected Service of which no port says that it speaks MCP",
    document:
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: one}, spec: {mcp: {targets: [{name: t, selector: {services: {matchLabels: {a: b}}}}]}}}\n---\n" +
      "{apiVersion: v1, kind: Service, metadata: {name: s, labels: {a: b}}, spec: {ports: [{name: x, port: 1}, {name: y, port: 2}]}}\n---\n" +
      route(
        "r",
        "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]}]",
      ),
    said: [
      'target-without-port: Service "default/s" is selected as an MCP server, but none of its 2 ports has an appProtocol of MCP',
    ],
  },
  {
    what: "a key set at a backend that is no single server",
    document: policy(
      target("HTTPRoute", "web"),
      "traffic: {jwtAuthentication: {providers: [{issuer: i, jwks: {remote: {jwksPath: /k, backendRef: {name: gone, port: 80}}}}]}}",
    ),
    said: ['missing-reference: there is no Service "default/gone"'],
  },
])("$what", ({ document, said }) => {
  expect(complaintsAbout(document)).toEqual(said);
});
