import { expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const api = "apiVersion: gateway.networking.k8s.io/v1";
const own = "apiVersion: gwc.dev/v1alpha1";

/** Two listeners of one Gateway, a route on each, and what is wrong. */
async function world(...more: readonly string[]): Promise<string> {
  const upstream = await startScripted((response) => response.end("served"));
  const [host, port] = upstream.host.split(":");
  const ports = [await freePort(), await freePort()];
  const listeners = ports.map((each, index) => `{name: l${index}, port: ${each}, protocol: HTTP}`);
  const route = (index: number) =>
    `{${api}, kind: HTTPRoute, metadata: {name: r${index}}, spec: {parentRefs: [{name: gw, sectionName: l${index}}], rules: [{name: only, matches: [{path: {value: /r${index}}}], FILTERS${index} backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  return [
    `{${api}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [${listeners.join(", ")}]}}`,
    `{${own}, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: ${host}, port: ${port}}}}`,
    route(0),
    route(1),
    ...more,
  ].join("\n---\n");
}

function policy(target: string): string {
  return `{${own}, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, ${target}}], traffic: {authorization: {action: Deny, policy: {matchExpressions: ["true"]}}}}}`;
}

/** The answers of both routes. */
async function answers(text: string): Promise<readonly (number | undefined)[]> {
  await startIsolated(text);
  const ports = [...text.matchAll(/name: l\d, port: (\d+)/g)].map(([, port]) => port);
  const urls = ports.map((port, index) => `http://127.0.0.1:${port}/r${index}`);
  return Promise.all(urls.map(async (url) => (await send(url, "GET")).status));
}

interface Conditions {
  readonly conditions: readonly { type: string; status: string; reason: string; message: string }[];
}

/** The condition of a resource, of its first parent or ancestor. */
function condition(text: string, kind: string, name: string, type: string) {
  const options = { name: "test", isStrict: false, isIsolating: true };
  const checked = checkFiles(["a.yaml"], memoryHost({ "a.yaml": text }), options);
  const all = checked.kubernetes === undefined ? [] : statusOf(checked, checked.kubernetes);
  const found = all.find((each) => each.kind === kind && each.metadata.name === name);
  const status = found?.status as { parents?: Conditions[]; ancestors?: Conditions[] } & Conditions;
  const [first] = status.parents ?? status.ancestors ?? [status];
  return first?.conditions.find((each) => each.type === type);
}

const withoutFilters = (text: string) => text.replace(/FILTERS\d/g, "");

it.each([
  [
    "a listener that is not there closes the Gateway",
    "kind: Gateway, name: gw, sectionName: l2",
    [500, 500],
  ],
  [
    "a listener that is there closes it alone",
    "kind: Gateway, name: gw, sectionName: l0",
    [403, 200],
  ],
  [
    "a rule that is not there closes its route",
    "kind: HTTPRoute, name: r0, sectionName: other",
    [500, 200],
  ],
])("a policy on %s", async (_, target, wanted) => {
  const text = withoutFilters(await world(policy(target)));
  expect(await answers(text)).toEqual(wanted);
  const isThere = wanted.includes(403);
  expect(condition(text, "GatewayPolicy", "p", "Attached")?.status).toBe(
    isThere ? "True" : "False",
  );
});

it("copies for a Service that is not there are left out, and the requests are served", async () => {
  const mirror =
    "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: nobody, port: 80}}}],";
  const text = (await world()).replace("FILTERS0", mirror).replace("FILTERS1", "");
  expect(await answers(text)).toEqual([200, 200]);
  expect(condition(text, "HTTPRoute", "r0", "ResolvedRefs")).toMatchObject({
    ...{ status: "False", reason: "BackendNotFound" },
  });
  expect(condition(text, "HTTPRoute", "r0", "Accepted")?.status).toBe("True");
});

it("copies for a share that can't be read close their rule", async () => {
  const mirror =
    "filters: [{type: RequestMirror, requestMirror: {percent: 101, backendRef: {group: gwc.dev, kind: GatewayBackend, name: b}}}],";
  const text = (await world()).replace("FILTERS0", mirror).replace("FILTERS1", "");
  expect(await answers(text)).toEqual([500, 200]);
});

it.each([
  ["too many characters", () => `env: "${"a".repeat(262_144)}"`, "more than 262,144 characters"],
  ["too many levels", () => `a: ${"{a: ".repeat(100)}1${"}".repeat(100)}`, "levels deep"],
])("a policy with %s closes its targets alone", async (_, fields, message) => {
  const large = policy("kind: HTTPRoute, name: r0").replace(
    "traffic: {",
    `traffic: {${fields()}, `,
  );
  const text = withoutFilters(await world(large));
  expect(await answers(text)).toEqual([500, 200]);
  expect(condition(text, "GatewayPolicy", "p", "Accepted")?.message).toContain(message);
});

const route = (name: string, more = "") =>
  `{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name}${more}}`;

it.each([
  [
    "an unknown field closes that target",
    `targetRefs: [${route("r0", ", section: a")}]`,
    [500, 200],
  ],
  [
    "no group closes resources of its name",
    "targetRefs: [{kind: HTTPRoute, name: r1}]",
    [200, 500],
  ],
  ["a name of another type closes its kind", `targetRefs: [${route("5")}]`, [500, 500]],
  ["no name closes its kind", "targetRefs: [{group: gwc.dev, kind: GatewayPolicy}]", [200, 200]],
  ["another type closes its namespace", `targetRefs: [${route("r0")}, x]`, [500, 500]],
])("a target with %s", async (_, targets, wanted) => {
  const spec = `{${targets}, traffic: {authorization: {action: Deny, policy: {matchExpressions: ["true"]}}}}`;
  const text = withoutFilters(
    await world(`{${own}, kind: GatewayPolicy, metadata: {name: p}, spec: ${spec}}`),
  );
  expect(await answers(text)).toEqual(wanted);
});

it("a BackendTLSPolicy with an unreadable target closes no rule without Services", async () => {
  const validation = "{hostname: a.test, wellKnownCACertificates: System}";
  const spec = `{targetRefs: [{group: "", kind: Service, name: s, section: x}], validation: ${validation}}`;
  const text = withoutFilters(
    await world(`{${api}, kind: BackendTLSPolicy, metadata: {name: p}, spec: ${spec}}`),
  );
  expect(await answers(text)).toEqual([200, 200]);
});
