import { expect, it } from "vitest";
import type { Condition } from "../../compiler/status/conditions.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { checkManifests, world } from "./manifests.ts";

const backend = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: tools}
spec: {static: {host: tools.example.com, port: 80}}
`;

interface Status {
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly {
    readonly attachedRoutes: number;
    readonly conditions: readonly Condition[];
  }[];
  readonly parents?: readonly { readonly conditions: readonly Condition[] }[];
  readonly ancestors?: readonly { readonly conditions: readonly Condition[] }[];
}

/** The status of a resource among the world's. */
function statusOfOne(name: string, ...documents: readonly string[]): Status {
  const checked = checkManifests([world, backend, ...documents].join("\n---\n"));
  if (checked.cluster === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.cluster).find(
    (each) => `${each.kind} ${each.name}` === name,
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

it("a Gateway without mistakes is accepted and programmed, and counts its routes", () => {
  expect(brief(statusOfOne("Gateway gw").conditions)).toEqual([
    "Accepted=True Accepted",
    "Programmed=True Programmed",
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

it.each([
  {
    what: "a good route",
    spec: `parentRefs: [{name: gw}], ${rules}`,
    said: ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "a route of a Gateway that is not there",
    spec: `parentRefs: [{name: no}], ${rules}`,
    said: ["Accepted=False NoMatchingParent", "ResolvedRefs=True ResolvedRefs"],
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
    what: "a route to a kind that is no backend",
    spec: "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{kind: Secret, name: no}]}]",
    said: ["Accepted=True Accepted", "ResolvedRefs=False InvalidKind"],
  },
])("$what", ({ spec, said }) => {
  const { parents } = statusOfOne("HTTPRoute r", route(spec));
  expect(brief(parents?.[0]?.conditions)).toEqual(said);
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

it("a policy that acts on nothing says so", () => {
  const rulesOfMcp = "backend: {mcp: {authorization: {policy: {matchExpressions: ['true']}}}}";
  const { ancestors } = statusOfOne("GatewayPolicy p", policy(rulesOfMcp));
  expect(brief(ancestors?.[0]?.conditions)).toEqual([
    "Accepted=True Valid",
    "Attached=False NoEffect",
  ]);
});

it("a backend with mistakes is not Accepted, and says where", () => {
  const wrong =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: a}}}";
  const { conditions } = statusOfOne("GatewayBackend b", wrong);
  expect(brief(conditions)).toEqual(["Accepted=False TranslationError"]);
  expect(conditions?.[0]?.message).toContain('static needs the field "port"');
});
