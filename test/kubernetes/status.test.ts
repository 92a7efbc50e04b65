import { expect, it } from "vitest";
import type { Condition } from "../../compiler/status/conditions.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { checkManifests, toolsBackend, world } from "./manifests.ts";

interface Status {
  readonly attachedListenerSets?: number;
  readonly supportedFeatures?: readonly { readonly name: string }[];
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly {
    readonly attachedRoutes: number;
    readonly conditions: readonly Condition[];
  }[];
  readonly parents?: readonly { readonly conditions: readonly Condition[] }[];
  readonly ancestors?: readonly {
    readonly ancestorRef?: { readonly kind: string; readonly name: string };
    readonly conditions: readonly Condition[];
  }[];
}

/** The status of a resource among the world's. */
function statusOfOne(name: string, ...documents: readonly string[]): Status {
  const checked = checkManifests([world, toolsBackend, ...documents].join("\n---\n"));
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.kubernetes).find(
    (each) => `${each.kind} ${each.metadata.name}` === name,
  );
  // The shape that the Gateway API gives statuses.
  return (found?.status ?? {}) as Status;
}

/** `Accepted=True Accepted`, for each condition. */
function brief(conditions: readonly Condition[] = []): readonly string[] {
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

const route = (rest: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {${rest}}}`;
const policy = (rest: string, target = "web"): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${target}}], ${rest}}}`;
const rules = "rules: [{matches: [{path: {value: /r}}], backendRefs: [{name: web, port: 80}]}]";
const cors = "traffic: {cors: {allowOrigins: ['*']}}";

it("a message of many mistakes names as many as a status has room for", () => {
  const backends = Array.from({ length: 16 }, (_, index) => {
    return `{name: ${"n".repeat(200)}-${index}, port: 80}`;
  });
  const rule = `{backendRefs: [${backends.join(", ")}]}`;
  const all = Array.from({ length: 16 }, () => rule).join(", ");
  const status = statusOfOne("HTTPRoute r", route(`parentRefs: [{name: gw}], rules: [${all}]`));
  const [, resolved] = status.parents?.[0]?.conditions ?? [];
  expect(resolved?.message).toMatch(/^spec\.rules\[0\].* there is no Service .* and \d+ more$/);
  expect(resolved?.message.length).toBeLessThan(4_100);
});

it("a Gateway whose own certificate no backend uses serves and reports it", () => {
  const own = `
{apiVersion: v1, kind: Secret, metadata: {name: own}, data: {tls.crt: "", tls.key: ""}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: idle}
spec:
  gatewayClassName: gwc
  listeners: [{name: http, port: 8080, protocol: HTTP}]
  tls: {backend: {clientCertificateRef: {name: own}}}
`;
  const [accepted, programmed] = statusOfOne("Gateway idle", own).conditions ?? [];
  expect(accepted).toMatchObject({ status: "True", reason: "Accepted" });
  expect(accepted?.message).toContain('"clientCertificateRef"');
  expect(programmed).toMatchObject({ status: "True" });
});

it("a Gateway without mistakes is accepted and programmed, and counts its routes", () => {
  expect(brief(statusOfOne("Gateway gw").conditions)).toEqual([
    "Accepted=True Accepted",
    "Programmed=True Programmed",
    "ResolvedRefs=True ResolvedRefs",
  ]);
  const [listener] = statusOfOne("ListenerSet set").listeners ?? [];
  expect(listener?.attachedRoutes).toBe(2);
  expect(brief(listener?.conditions)).toEqual([
    "Accepted=True Accepted",
    "Conflicted=False NoConflicts",
    "ResolvedRefs=True ResolvedRefs",
    "Programmed=True Programmed",
  ]);
});

it("a listener with an unsupported kind reports it and accepts the others", () => {
  const { listeners } = statusOfOne(
    "Gateway g",
    "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 1, protocol: HTTP, allowedRoutes: {kinds: [{kind: TCPRoute}]}}]}}",
  );
  expect(listeners?.[0]).toMatchObject({ supportedKinds: [] });
  expect(brief(listeners?.[0]?.conditions)).toContain("ResolvedRefs=False InvalidRouteKinds");
});

it.each([
  {
    what: "a good route",
    spec: `parentRefs: [{name: gw}], ${rules}`,
    said: ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "a route whose host names are not the listener's",
    spec: `parentRefs: [{name: gw}], hostnames: [a.example.org], ${rules}`,
    said: ["Accepted=False NoMatchingListenerHostname", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "a route to a Service that is not there",
    spec: "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{name: no, port: 80}]}]",
    said: ["Accepted=True Accepted", "ResolvedRefs=False BackendNotFound"],
  },
  {
    what: "a route with a rule without backends",
    spec: "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}]}]",
    said: ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "a route to a kind that is no backend",
    spec: "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{kind: Secret, name: no}]}]",
    said: ["Accepted=True Accepted", "ResolvedRefs=False InvalidKind"],
  },
])("$what", ({ spec, said }) => {
  const { parents } = statusOfOne("HTTPRoute r", route(spec));
  expect(brief(parents?.[0]?.conditions)).toEqual(said);
});

it.each([
  ["a Gateway that is not there", "{name: no}"],
  ["a ListenerSet that is not there", "{kind: ListenerSet, name: no}"],
  ["a Service, which a mesh answers for", "{group: '', kind: Service, name: echo}"],
])("of %s nothing is said: it may be somebody else's", (_, parent) => {
  const { parents } = statusOfOne(
    "HTTPRoute r",
    route(`parentRefs: [{name: gw}, ${parent}], ${rules}`),
  );
  expect(parents).toMatchObject([{ parentRef: { name: "gw" } }]);
});

it("a policy that acts is Accepted and Attached", () => {
  expect(brief(statusOfOne("GatewayPolicy p", policy(cors)).ancestors?.[0]?.conditions)).toEqual([
    "Accepted=True Valid",
    "Attached=True Attached",
  ]);
});

it("a policy with mistakes is not Accepted", () => {
  const { ancestors } = statusOfOne("GatewayPolicy p", policy("traffic: {corss: {}}"));
  expect(brief(ancestors?.[0]?.conditions)).toEqual([
    "Accepted=False Invalid",
    "Attached=False Pending",
  ]);
});

it("a policy whose target is missing is not Attached", () => {
  const { ancestors } = statusOfOne("GatewayPolicy p", policy(cors, "no"));
  expect(brief(ancestors?.[0]?.conditions)).toEqual([
    "Accepted=True Valid",
    "Attached=False Pending",
  ]);
});

const rulesOfMcp = "backend: {mcp: {authorization: {policy: {matchExpressions: ['true']}}}}";

it("a policy of a Gateway that acts on none of its routes reports it", () => {
  const ofGateway = policy(rulesOfMcp, "gw").replace("HTTPRoute", "Gateway");
  const { ancestors } = statusOfOne("GatewayPolicy p", ofGateway);
  expect(brief(ancestors?.[0]?.conditions)).toEqual([
    "Accepted=True Valid",
    "Attached=False NoEffect",
  ]);
});

it("a policy of a Gateway without routes is attached, and says that it waits", () => {
  const ofGateway = policy(cors, "empty").replace("HTTPRoute", "Gateway");
  const empty = `${ofGateway}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: empty}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 9090, protocol: HTTP}]}}`;
  const { ancestors } = statusOfOne("GatewayPolicy p", empty);
  const [accepted, attached] = ancestors?.[0]?.conditions ?? [];
  expect(brief([accepted, attached].flatMap((each) => each ?? []))).toEqual([
    "Accepted=True Valid",
    "Attached=True Attached",
  ]);
  expect(attached?.message).not.toBe("");
});

it("a policy that loses one field to an older one is accepted for the rest", () => {
  const older = policy(cors).replace(
    "name: p}",
    'name: o, creationTimestamp: "2020-01-01T00:00:00Z"}',
  );
  const both = "traffic: {cors: {allowOrigins: ['https://b.example']}, csrf: {}}";
  const { ancestors } = statusOfOne("GatewayPolicy p", `${policy(both)}\n---\n${older}`);
  const [accepted] = ancestors?.[0]?.conditions ?? [];
  expect(brief(accepted === undefined ? [] : [accepted])).toEqual(["Accepted=True PartiallyValid"]);
  expect(accepted?.message).toContain("cors");
  const whole = "traffic: {cors: {allowOrigins: ['https://b.example']}}";
  const lost = statusOfOne("GatewayPolicy p", `${policy(whole)}\n---\n${older}`);
  expect(brief(lost.ancestors?.[0]?.conditions)[0]).toBe("Accepted=False Conflicted");
});

it("a policy of a route that can't act on it is not accepted", () => {
  const { ancestors } = statusOfOne("GatewayPolicy p", policy(rulesOfMcp));
  expect(brief(ancestors?.[0]?.conditions)).toEqual([
    "Accepted=False Invalid",
    "Attached=False Pending",
  ]);
});

const tlsPolicy = (service: string, rest = "wellKnownCACertificates: System"): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, metadata: {name: t}, spec: {targetRefs: [{group: "", kind: Service, name: ${service}}], validation: {hostname: a.test, ${rest}}}}`;

it.each([
  {
    what: "is accepted for the Gateway whose traffic it is about",
    document: tlsPolicy("web"),
    said: ["Gateway gw", "Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "without its CA bundle is not",
    document: tlsPolicy("web", 'caCertificateRefs: [{group: "", kind: ConfigMap, name: no}]'),
    said: [
      "Gateway gw",
      "Accepted=False NoValidCACertificate",
      "ResolvedRefs=False InvalidCACertificateRef",
    ],
  },
  {
    what: "with a broken CA bundle is not",
    document: `${tlsPolicy("web", 'caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]')}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: "not valid!!!"}}`,
    said: [
      "Gateway gw",
      "Accepted=False NoValidCACertificate",
      "ResolvedRefs=False InvalidCACertificateRef",
    ],
  },
  {
    what: "that lost to an older one reports it",
    document: `${tlsPolicy("web")}\n---\n${tlsPolicy("web").replace("name: t}", "name: s}")}`,
    said: ["Gateway gw", "Accepted=False Conflicted", "ResolvedRefs=True ResolvedRefs"],
  },
])("a BackendTLSPolicy $what", ({ document, said }) => {
  const [ancestor] = statusOfOne("BackendTLSPolicy t", document).ancestors ?? [];
  const { kind, name } = ancestor?.ancestorRef ?? {};
  expect([`${kind} ${name}`, ...brief(ancestor?.conditions)]).toEqual(said);
});

it.each(["no", "unused"])(
  "of a BackendTLSPolicy of the Service %s, which no Gateway reaches, nothing is said",
  (name) => {
    const unused =
      "{apiVersion: v1, kind: Service, metadata: {name: unused}, spec: {ports: [{port: 443}]}}";
    expect(statusOfOne("BackendTLSPolicy t", `${tlsPolicy(name)}\n---\n${unused}`)).toEqual({});
  },
);

it("a route with mistakes reports them only to its own parents", () => {
  const wrong = "parentRefs: [{name: gw}], rules: [{matchess: []}]";
  expect(brief(statusOfOne("HTTPRoute r", route(wrong)).parents?.[0]?.conditions)).toEqual([
    "Accepted=False UnsupportedValue",
    "ResolvedRefs=True ResolvedRefs",
  ]);
  const foreign = [
    "{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: them}, spec: {controllerName: example.com/them}}",
    "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: theirs}, spec: {gatewayClassName: them, listeners: [{name: a, port: 1, protocol: HTTP}]}}",
  ];
  const both = statusOfOne(
    "HTTPRoute r",
    ...foreign,
    route(`parentRefs: [{name: theirs}, {name: gw}], ${rules}`),
  );
  expect(both.parents).toHaveLength(1);
  const none = statusOfOne(
    "HTTPRoute r",
    ...foreign,
    route(`parentRefs: [{name: theirs}], ${rules}`),
  );
  expect(none).toEqual({});
});

it("conditions carry the generation, and the time of their last change", () => {
  const known = (status: string) =>
    `{type: Accepted, status: "${status}", reason: x, message: x, lastTransitionTime: "2020-01-01T00:00:00Z"}`;
  const document = (status: string) =>
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, generation: 7}, spec: {parentRefs: [{name: gw}], ${rules}}, status: {parents: [{controllerName: gwc.dev/gateway, parentRef: {name: gw}, conditions: [${known(status)}]}]}}`;
  const first = (status: string) =>
    statusOfOne("HTTPRoute r", document(status)).parents?.[0]?.conditions[0];
  expect(first("True")).toMatchObject({
    observedGeneration: 7,
    lastTransitionTime: "2020-01-01T00:00:00Z",
  });
  expect(first("False")).toMatchObject({ lastTransitionTime: "1970-01-01T00:00:00Z" });
});

it("a policy of many targets has a summary of the last ones", () => {
  const services = Array.from(
    { length: 20 },
    (_, index) =>
      `{apiVersion: v1, kind: Service, metadata: {name: s${index}, labels: {a: b}}, spec: {ports: [{port: 80}]}}`,
  );
  const { ancestors } = statusOfOne(
    "GatewayPolicy p",
    ...services,
    '{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetSelectors: [{group: "", kind: Service, matchLabels: {a: b}}], backend: {tcp: {connectTimeout: 1s}}}}',
  );
  expect(ancestors).toHaveLength(16);
  expect(ancestors?.[15]?.ancestorRef?.name).toBe("StatusSummary");
});

it("a backend with mistakes is not Accepted, and says where", () => {
  const wrong =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: a}}}";
  const { conditions } = statusOfOne("GatewayBackend b", wrong);
  expect(brief(conditions)).toEqual(["Accepted=False TranslationError"]);
  expect(conditions?.[0]?.message).toContain('static needs the field "port"');
});

const gateway = (name: string, listeners: string, rest = ""): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: ${name}}, spec: {gatewayClassName: gwc, ${rest} listeners: [${listeners}]}}`;
const listenerSet = (name: string, parent: string, listeners: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: ${name}}, spec: {parentRef: {name: ${parent}}, listeners: [${listeners}]}}`;
const plain = "{name: a, port: 8081, protocol: HTTP}";
const bad = "{name: b, port: 8443, protocol: HTTPS, tls: {certificateRefs: [{name: nowhere}]}}";

it("a Gateway with one invalid listener is accepted for the others; with none it is not", () => {
  expect(brief(statusOfOne("Gateway g", gateway("g", `${plain}, ${bad}`)).conditions)).toEqual([
    "Accepted=True ListenersNotValid",
    "Programmed=True Programmed",
    "ResolvedRefs=False ListenersNotResolved",
  ]);
  expect(brief(statusOfOne("Gateway g", gateway("g", bad)).conditions)).toEqual([
    "Accepted=False ListenersNotValid",
    "Programmed=False Invalid",
    "ResolvedRefs=False ListenersNotResolved",
  ]);
});

it.each([
  ["{value: 192.0.2.1}, {type: IPAddress}", "Accepted=True Accepted", "Programmed=True Programmed"],
  ["{value: 192.0.2.300}", "Accepted=True Accepted", "Programmed=False AddressNotUsable"],
  [
    "{value: 192.0.2.1}, {value: '2001:db8::1'}",
    "Accepted=True Accepted",
    "Programmed=True Programmed",
  ],
  [
    "{type: Hostname, value: a.test}",
    "Accepted=False UnsupportedAddress",
    "Programmed=False Invalid",
  ],
])("a Gateway that asks for the addresses %s is %s, %s", (addresses, ...said) => {
  const document = gateway("g", plain, `addresses: [${addresses}],`);
  expect(brief(statusOfOne("Gateway g", document).conditions)).toEqual([
    ...said,
    "ResolvedRefs=True ResolvedRefs",
  ]);
});

it("a Gateway counts the ListenerSets that are accepted, and others hear why they are not", () => {
  const open = "allowedListeners: {namespaces: {from: Same}},";
  const sets = [
    listenerSet("one", "g", "{name: c, port: 8082, protocol: HTTP}"),
    listenerSet("two", "g", bad),
  ];
  const both = [gateway("g", plain, open), ...sets];
  expect(statusOfOne("Gateway g", ...both).attachedListenerSets).toBe(1);
  expect(brief(statusOfOne("ListenerSet two", ...both).conditions)).toEqual([
    "Accepted=False ListenersNotValid",
    "Programmed=False ListenersNotValid",
  ]);
  const closed = [gateway("g", plain), ...sets];
  expect(statusOfOne("Gateway g", ...closed).attachedListenerSets).toBe(0);
  expect(brief(statusOfOne("ListenerSet one", ...closed).conditions)).toEqual([
    "Accepted=False NotAllowed",
    "Programmed=False NotAllowed",
  ]);
});

it("a GatewayClass says which features of the Gateway API it has, in their order", () => {
  const own =
    "{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: own}, spec: {controllerName: gwc.dev/gateway}}";
  const names = (statusOfOne("GatewayClass own", own).supportedFeatures ?? []).map(
    ({ name }) => name,
  );
  expect(names).toContain("HTTPRoute");
  expect(names).toEqual(names.toSorted());
});

it("a share that a policy of the route would not hold for is unsupported, and the reference is resolved", () => {
  const shared =
    "parentRefs: [{kind: ListenerSet, name: set}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: mcp}, {name: web, port: 80}]}]";
  const backend =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: mcp}, spec: {mcp: {targets: [{name: t, static: {host: a.test, port: 80}}]}}}";
  const rules = "backend: {mcp: {authorization: {policy: {matchExpressions: ['true']}}}}";
  const { parents } = statusOfOne("HTTPRoute r", route(shared), backend, policy(rules, "r"));
  expect(brief(parents?.[0]?.conditions)).toEqual([
    "Accepted=False UnsupportedValue",
    "ResolvedRefs=True ResolvedRefs",
  ]);
});
