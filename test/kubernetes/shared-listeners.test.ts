import { expect, it } from "vitest";
import { emitModules } from "../../compiler/4-emit/modules.ts";
import { checkManifests, complaints, gatewayWith, webRoute } from "./manifests.ts";

const gateway = gatewayWith(
  "{name: one, port: 8080, protocol: HTTP, hostname: one.example.com}",
  "{name: two, port: 8081, protocol: HTTP}",
);
const world = `${gateway}${webRoute(80)}---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: limit}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  traffic: {rateLimit: {local: [{requests: 1, unit: Hours}]}}
`;

function modulesOf(text: string) {
  const checked = checkManifests(text);
  expect(complaints(checked)).toEqual([]);
  const { program, files } = checked;
  if (program === undefined) throw new Error("refused");
  return { program, modules: emitModules(program, "path", files) };
}

it("writes a rule that is the same on two listeners once, with one set of limits", () => {
  const { modules } = modulesOf(world);
  expect(modules.map(({ path }) => path)).toEqual(["main.ts", "routes/web.ts"]);
  const [main] = modules;
  expect(main?.text).toContain('dispatch(exchange, "one", "default/web", web)');
  expect(main?.text).toContain('dispatch(exchange, "two", "default/web", web)');
});

it("keeps the hostnames of each listener apart", () => {
  const { program } = modulesOf(world);
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const names = listeners.map(({ hostname, table }) => [
    hostname,
    table.map((each) => each.hostname),
  ]);
  expect(names).toEqual([
    ["one.example.com", ["*"]],
    ["*", ["*"]],
  ]);
});

it("calls the rule after its listener where a listener's policy makes it another", () => {
  const policy = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: browsers}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: two}]
  traffic: {cors: {allowOrigins: ["*"]}}
`;
  const { modules } = modulesOf(`${world}---${policy}`);
  expect(modules.map(({ path }) => path)).toEqual([
    "main.ts",
    "routes/web-one.ts",
    "routes/web-two.ts",
  ]);
  expect(modules[1]?.text).not.toContain("cors");
  expect(modules[2]?.text).toContain("applyCors");
});
