import { expect, it } from "vitest";
import { checkManifests, complaints, world } from "./manifests.ts";

/** The codes and what they name, of a world in which nothing else is wrong. */
function said(...documents: readonly string[]): readonly string[] {
  const tools =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {static: {host: tools.example.com, port: 80}}}";
  return complaints(checkManifests([world, tools, ...documents].join("\n---\n"))).map((line) =>
    line.replace(/^\d+ /, ""),
  );
}

const resource = (kind: string, name: string, spec: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: ${kind}, metadata: {name: ${name}}, spec: {${spec}}}`;
const route = (rules: string): string =>
  resource("HTTPRoute", "r", `parentRefs: [{kind: ListenerSet, name: set}], rules: [${rules}]`);
const policy = (kind: string, name: string, section: string): string =>
  "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: " +
  `[{group: gateway.networking.k8s.io, kind: ${kind}, name: ${name}, sectionName: ${section}}], ` +
  "traffic: {cors: {allowOrigins: ['*']}}}}";
const backendRefs = (name: string): string => `backendRefs: [{name: ${name}, port: 80}]`;
const missing = (name: string): string =>
  `missing-reference: there is no Service "default/${name}"`;

it("a mistake in a rule hides no mistakes in its backends and other rules", () => {
  const match = "matches: [{path: {type: Exactly, value: /r}}]";
  expect(
    said(
      route(
        `{${match}, ${backendRefs("one")}}, {matches: [{path: {value: /s}}], ${backendRefs("two")}}`,
      ),
    ),
  ).toEqual([expect.stringContaining('unknown-value: "type"'), missing("one"), missing("two")]);
});

it("a mistake in a filter hides no mistakes in its rule's backends", () => {
  const redirect = "{type: RequestRedirect, requestRedirect: {scheme: gopher}}";
  expect(said(route(`{filters: [${redirect}], ${backendRefs("one")}}`))).toEqual([
    expect.stringContaining('unknown-value: "scheme"'),
    missing("one"),
  ]);
});

it("one reference with a mistake hides none of the others", () => {
  const rule =
    "backendRefs: [{name: one, port: 80}, {name: web, port: 80, wait: 1}, {name: two, port: 80}]";
  expect(said(route(`{matches: [{path: {value: /r}}], ${rule}}`))).toEqual([
    expect.stringContaining('unknown-field: backendRefs[1] has no field "wait"'),
    missing("one"),
    missing("two"),
  ]);
});

it("what is left of a rule takes no request from another one", () => {
  // With no match at all it would leave the next one nothing.
  const broken = `{matches: [{path: {value: nowhere}}], ${backendRefs("web")}}`;
  const whole = `{${backendRefs("web")}}`;
  expect(said(route(`${broken}, ${whole}`))).toEqual([
    "broken-rule: an exact path or a prefix must start with a slash",
  ]);
  expect(said(route(`${whole}, ${whole}`))).toEqual([expect.stringContaining("shadowed-route")]);
});

it("a policy of a rule or listener that has mistakes is not said to have no target", () => {
  const rule = `{nam: one, ${backendRefs("web")}}`;
  expect(said(route(rule), policy("HTTPRoute", "r", "one"))).toEqual([
    expect.stringContaining('unknown-field: rules[0] has no field "nam"'),
  ]);
  const listeners = "gatewayClassName: gwc, listeners: [{nam: one, port: 90, protocol: HTTP}]";
  expect(said(resource("Gateway", "g", listeners), policy("Gateway", "g", "one"))).toEqual([
    expect.stringContaining('unknown-field: listeners[0] has no field "nam"'),
  ]);
});

it.each(["Gateway", "ListenerSet"])(
  "a mistake in a listener of a %s hides no mistakes in other listeners and their routes",
  (kind) => {
    const owner = kind === "Gateway" ? "gatewayClassName: gwc" : "parentRef: {name: gw}";
    const listeners =
      "{name: wrong, port: 9001, protocol: HTTP, hostnam: a.test}, {name: good, port: 9002, protocol: HTTPS, tls: {certificateRefs: [{name: absent}]}}";
    const using = resource(
      "HTTPRoute",
      "r",
      `parentRefs: [{kind: ${kind}, name: o, sectionName: wrong}, {kind: ${kind}, name: o, sectionName: good}], rules: [{${backendRefs("one")}}]`,
    );
    expect(said(resource(kind, "o", `${owner}, listeners: [${listeners}]`), using)).toEqual([
      expect.stringContaining('unknown-field: listeners[0] has no field "hostnam"'),
      'missing-secret: there is no Secret "default/absent"',
      missing("one"),
    ]);
  },
);

it("a rule of connections with a mistake leaves the others to be judged", () => {
  const listeners = "gatewayClassName: gwc, listeners: [{name: tcp, port: 9003, protocol: TCP}]";
  const rules = `{${backendRefs("one").replace("80", "eighty")}}, {${backendRefs("two")}}`;
  const tcp = resource("TCPRoute", "t", `parentRefs: [{name: g}], rules: [${rules}]`);
  expect(said(resource("Gateway", "g", listeners), tcp)).toEqual([
    expect.stringContaining("wrong-type: "),
    missing("two"),
  ]);
});

it.each([
  ["a host name", "parentRefs: [{kind: ListenerSet, name: set}], hostnames: [a.test, Upper_Case]"],
  ["all host names", "parentRefs: [{kind: ListenerSet, name: set}], hostnames: [1]"],
  ["a parent", "parentRefs: [{kind: ListenerSet, name: set, prt: 80}]"],
  ["the name of a part", "parentRefs: [{kind: ListenerSet, name: set, sectionName: A B}]"],
  ["a field's name", "parentRefs: [{kind: ListenerSet, name: set}], hostnamez: [a.test]"],
])("rules of a route with a mistake in %s are checked and serve no requests", (_, fields) => {
  const broken = resource("HTTPRoute", "a", `${fields}, rules: [{${backendRefs("one")}}]`);
  // Were the first one to answer anything, this one would be left nothing.
  const whole = route(`{${backendRefs("web")}}`);
  expect(said(broken, whole)).toEqual([expect.any(String), missing("one")]);
});

it("a route whose parents all have mistakes is not said to have none", () => {
  const using = resource("HTTPRoute", "r", `parentRefs: [{nam: set}], rules: [{}]`);
  expect(said(using)).toEqual([
    expect.stringContaining("unknown-field: parentRefs[0] has no field"),
  ]);
});

it("a mistake in a Gateway hides no mistakes in its listeners and their routes", () => {
  const gateway = resource(
    "Gateway",
    "o",
    "gatewayClassName: gwc, infrastructure: {labels: {a: no label}}, " +
      "listeners: [{name: good, port: 9002, protocol: HTTPS, tls: {certificateRefs: [{name: absent}]}}]",
  );
  const using = resource(
    "HTTPRoute",
    "r",
    `parentRefs: [{name: o}], rules: [{${backendRefs("one")}}]`,
  );
  expect(said(gateway, using)).toEqual([
    expect.stringContaining('bad-format: "a" must be'),
    'missing-secret: there is no Secret "default/absent"',
    missing("one"),
  ]);
});

it("a ListenerSet is not said to be shut out where what lets it in has a mistake", () => {
  const gateway = resource(
    "Gateway",
    "o",
    "gatewayClassName: gwc, allowedListeners: {namespaces: {from: Everywhere}}, " +
      "listeners: [{name: one, port: 9002, protocol: HTTP}]",
  );
  const set = resource(
    "ListenerSet",
    "more",
    "parentRef: {name: o}, listeners: [{name: two, port: 9003, protocol: HTTP}]",
  );
  expect(said(gateway, set)).toEqual([expect.stringContaining('unknown-value: "from"')]);
});
