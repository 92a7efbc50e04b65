import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { emitModules } from "../../compiler/4-emit/modules.ts";
import { originOfLine } from "../../compiler/inspect/explain/generated-line.ts";
import { reachedRoute } from "../../compiler/inspect/explain/request.ts";
import { explainRoute } from "../../compiler/inspect/explain/route.ts";
import { root } from "../harness/root.ts";
import { checkManifests, world } from "./manifests.ts";

const text = [
  readFileSync(path.join(root, "examples/cluster-mcp/gateway.yaml"), "utf8"),
  `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: everywhere, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  traffic:
    cors: {allowOrigins: ["*"]}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: early, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  traffic:
    phase: PreRouting
    csrf: {}
`,
].join("\n---\n");
const checked = checkManifests(text);

it("shows for each field the effective value, its place, and what it overrides", () => {
  const [explained] = explainRoute(checked, "agents/tools", undefined);
  const cors = explained?.fields.find(({ field }) => field === "traffic.cors");
  expect(cors?.values).toMatchObject([
    { source: 'GatewayPolicy "agents/browsers"', level: "route" },
  ]);
  const line = text.split("\n").findIndex((each) => each.startsWith("    cors:")) + 1;
  expect(cors?.values[0]?.at).toBe(`manifests.yaml:${line}:5`);
  expect(cors?.overridden).toMatchObject([
    {
      source: 'GatewayPolicy "agents/everywhere"',
      level: "gateway",
      value: { allowOrigins: ["*"] },
    },
  ]);
  expect(explained?.fields.map(({ field }) => field)).toContain(
    "backend.mcp.authorization (target everything)",
  );
});

it("shows what happens before routing next to the route's own policies", () => {
  const [explained] = explainRoute(checked, "agents/tools", undefined);
  const preRouting = explained?.fields.find(({ field }) => field === "traffic.PreRouting.csrf");
  expect(preRouting?.values).toMatchObject([
    { source: 'GatewayPolicy "agents/early"', level: "gateway" },
  ]);
});

it("knows no route of another name, and no other rule", () => {
  expect(explainRoute(checked, "agents/other", undefined)).toEqual([]);
  expect(explainRoute(checked, "agents/tools", "1")).toEqual([]);
  expect(explainRoute(checked, "agents/tools", "0")).toHaveLength(1);
});

it("finds the route that a request reaches", () => {
  const reached = (method: string, url: string) => {
    const found = reachedRoute(checked, method, new URL(url));
    return found.kind === "route" ? found.route.name : found.reason;
  };
  expect(reached("POST", "http://any.example.com:3000/mcp")).toBe("agents/tools");
  expect(reached("POST", "http://any.example.com:3000/mcpx")).toMatch(/no route/);
  expect(reached("POST", "http://any.example.com:4000/mcp")).toMatch(
    /no listener has the port 4000/,
  );
});

it("tells backends apart, and what comes before a route for some headers", () => {
  const several = checkManifests(
    [
      world,
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {static: {host: a, port: 1}, policies: {auth: {key: hush}}}}",
      "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: two, namespace: default}, spec: {parentRefs: [{kind: ListenerSet, name: set}], rules: [{matches: [{path: {value: /two}}], backendRefs: [{name: web, port: 80}, {group: gwc.dev, kind: GatewayBackend, name: tools, weight: 3}]}, {name: beta, matches: [{path: {value: /two}, headers: [{name: x, value: y}]}], backendRefs: [{name: web, port: 80}]}]}}",
      '{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: web}, spec: {targetRefs: [{group: "", kind: Service, name: web}], backend: {tcp: {connectTimeout: 1s}}}}',
    ].join("\n---\n"),
  );
  const [explained] = explainRoute(several, "two", "0");
  expect(explained?.backend).toBe(
    'Service "default/web" port 80 (weight 1), GatewayBackend "default/tools" (weight 3)',
  );
  expect(explained?.fields.map(({ field, values }) => [field, values[0]?.value])).toEqual([
    ['backend.tcp.connectTimeout (to Service "default/web" port 80)', "1s"],
    ['backend.auth (to GatewayBackend "default/tools")', { key: "(not shown)" }],
  ]);
});

it("names the routes that a request with other headers would reach", () => {
  const both = checkManifests(
    [
      world.replace("name: tools, port", "name: web, port"),
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {static: {host: a, port: 1}}}",
      "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: beta}, spec: {parentRefs: [{kind: ListenerSet, name: set}], rules: [{matches: [{path: {value: /web}, headers: [{name: x, value: y}]}], backendRefs: [{name: web, port: 80}]}]}}",
    ].join("\n---\n"),
  );
  const found = reachedRoute(both, "GET", new URL("http://a.example.com/web/x"));
  if (found.kind === "none") throw new Error(found.reason);
  expect(found.route.name).toBe("default/web");
  expect(found.earlier.map(({ route }) => route.name)).toEqual(["default/beta"]);
});

it("traces a generated line back to the configuration", () => {
  const { program, files } = checked;
  if (program === undefined) throw new Error("refused");
  const module = emitModules(program, "path", files).find(({ path: name }) =>
    name.startsWith("routes/"),
  );
  const lines = (module?.text ?? "").split("\n");
  const line = lines.findIndex((each) => each.includes("allowCredentials")) + 1;
  const origin = originOfLine(module?.text ?? "", line, checked);
  expect(origin?.trace).toBe("GatewayPolicy agents/browsers spec.traffic.cors");
  const source = text.split("\n").findIndex((each) => each.startsWith("    cors:")) + 1;
  expect(origin?.at).toBe(`manifests.yaml:${source}:5`);
});
