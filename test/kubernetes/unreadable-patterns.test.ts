import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { send } from "../harness/send.ts";

const API = "gateway.networking.k8s.io/v1";
const PATTERNS = ["/(?!admin).*", "/priv[", "/(", "/a{1000}{1000}", "/(?<=a)b", "/a|/b(", "/*+"];

/** A Gateway, a backend, the route of a tenant with a Deny, and further documents. */
async function startShared(...documents: readonly string[]): Promise<(target: Target) => Status> {
  const [host, port] = new URL((await startEcho()).url).host.split(":");
  const gateway = await startIsolated(
    [
      `{apiVersion: ${API}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: echo}, spec: {static: {host: ${host}, port: ${port}}}}`,
      route("tenant-b", "b.test", [rule("{path: {value: /}}")]),
      "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: deny}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: tenant-b}], traffic: {authorization: {action: Deny, policy: {matchExpressions: ['request.path == \"/secret\"']}}}}}",
      ...documents,
    ].join("\n---\n"),
  );
  return async ({ host: name, path, headers = {}, method = "GET" }) =>
    (await send(`${gateway.url}${path}`, method, { host: name, ...headers })).status;
}

interface Target {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

type Status = Promise<number>;

const BACKEND = "backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: echo}]";
const rule = (match: string) => `{matches: [${match}], ${BACKEND}}`;
const route = (name: string, host: string, rules: readonly string[], kind = "HTTPRoute") =>
  `{apiVersion: ${API}, kind: ${kind}, metadata: {name: ${name}}, spec: {parentRefs: [{name: gw}], hostnames: [${host}], rules: [${rules.join(", ")}]}}`;
const pattern = (value: string) => `{type: RegularExpression, value: ${JSON.stringify(value)}}`;
const named = (value: string) =>
  `{type: RegularExpression, name: x, value: ${JSON.stringify(value)}}`;

it("a path pattern that does not compile closes its own rule and no other", async () => {
  const status = await startShared(
    ...PATTERNS.map((each, index) =>
      route(`x${index}`, `x${index}.test`, [
        rule(`{path: ${pattern(each)}}`),
        rule("{path: {type: Exact, value: /open}}"),
      ]),
    ),
  );
  expect(await status({ host: "b.test", path: "/" })).toBe(200);
  expect(await status({ host: "b.test", path: "/secret" })).toBe(403);
  for (const index of PATTERNS.keys()) {
    const host = `x${index}.test`;
    expect(await status({ host, path: "/open" })).toBe(200);
    // All paths that the pattern could have matched are closed; the others do not belong to it.
    const path = PATTERNS[index]?.startsWith("/priv") ? "/private" : "/anything";
    expect(await status({ host, path })).toBe(500);
  }
  expect(await status({ host: "x1.test", path: "/anything" })).toBe(404);
});

it("a header or query pattern that does not compile closes the requests that have the header or parameter", async () => {
  const status = await startShared(
    route("x", "x.test", [
      rule(`{path: {value: /h}, headers: [${named("(")}]}`),
      rule(`{path: {value: /q}, queryParams: [${named("a(?=b)")}]}`),
      rule("{path: {value: /}}"),
    ]),
  );
  const host = "x.test";
  expect(await status({ host, path: "/h", headers: { x: "1" } })).toBe(500);
  expect(await status({ host, path: "/h" })).toBe(200);
  expect(await status({ host, path: "/q?x=1" })).toBe(500);
  expect(await status({ host, path: "/q" })).toBe(200);
  expect(await status({ host: "b.test", path: "/secret" })).toBe(403);
});

it("a pattern for a gRPC service that does not compile closes its own rule, also where it compiles only as a part", async () => {
  const grpc = (name: string, service: string) =>
    route(
      name,
      `${name}.test`,
      [
        `{matches: [{method: {type: RegularExpression, service: ${JSON.stringify(service)}}}], ${BACKEND}}`,
      ],
      "GRPCRoute",
    );
  const status = await startShared(grpc("x", "pkg.Foo("), grpc("y", "a)|(.*"));
  for (const host of ["x.test", "y.test"]) {
    const call = { host, path: "/pkg.Foo/Bar", method: "POST" };
    expect(await status(call)).toBe(500);
  }
  expect(await status({ host: "b.test", path: "/" })).toBe(200);
  expect(await status({ host: "b.test", path: "/secret" })).toBe(403);
});
