import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { checkManifests, complaints } from "./manifests.ts";

function gatewayOf(name: string, port: number, functions: string | undefined): string {
  const reference = `infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: ${name}}},`;
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: ${name}}
spec: {gatewayClassName: gwc, ${functions === undefined ? "" : reference} listeners: [{name: http, port: ${port}, protocol: HTTP}]}
---${
    functions === undefined
      ? ""
      : `
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: ${name}}
spec: {rawConfig: {config: {customFunctions: ${JSON.stringify(functions)}}}}
---`
  }`;
}

/** A route of these Gateways, whose rules and transformations call functions. */
function route(
  gateways: readonly string[],
  host: string,
  { rule = "isInternal()", value = 'marked("x", request.method)' } = {},
): string {
  const [address, port] = host.split(":");
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [${gateways.map((name) => `{name: ${name}}`).join(", ")}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: b}
spec: {static: {host: ${address}, port: ${port}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: p}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]
  traffic:
    authorization: {policy: {matchExpressions: ['${rule}']}}
    transformation: {response: {set: [{name: x-marked, value: '${value}'}]}}
`;
}

const functionsOf = (word: string) =>
  `isInternal() { request.headers["x-env"] == "${word}" } marked(a, b) { a + "${word}" + b }`;

describe("customFunctions of GatewayParameters", () => {
  const words = ["one", "two"];
  let gateways: readonly Gateway[] = [];

  beforeAll(async () => {
    const upstream = await startEcho();
    const { host } = new URL(upstream.url);
    gateways = await Promise.all(
      words.map(async (word) => {
        const port = await freePort();
        return startGateway({
          config: gatewayOf("gw", port, functionsOf(word)) + route(["gw"], host),
        });
      }),
    );
  });

  it("mean what the Gateway that serves a request defines", async () => {
    for (const [at, gateway] of gateways.entries()) {
      const own = words[at] ?? "";
      const answer = await call(`${gateway.url}/`, { "x-env": own });
      expect([answer.status, answer.headers["x-marked"]]).toEqual([200, `x${own}GET`]);
      expect((await call(`${gateway.url}/`, { "x-env": "other" })).status).toBe(403);
    }
  });
});

describe("a policy of several Gateways", () => {
  const check = (...manifests: readonly string[]) => checkManifests(manifests.join(""));
  const both = gatewayOf("a", 8080, functionsOf("one")) + gatewayOf("b", 8081, functionsOf("two"));

  it("is compiled for each with its functions", () => {
    const { programs, diagnostics } = check(both, route(["a", "b"], "127.0.0.1:1"));
    expect(diagnostics).toEqual([]);
    const texts = programs.map((program) => JSON.stringify(program.binds));
    expect(texts.map((each) => [each.includes('\\"one\\"'), each.includes('\\"two\\"')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it("is a mistake if one of them lacks the function", () => {
    const manifests = gatewayOf("a", 8080, functionsOf("one")) + gatewayOf("b", 8081, undefined);
    expect(complaints(check(manifests, route(["a", "b"], "127.0.0.1:1")))).toEqual([
      expect.stringMatching(/isInternal/),
      expect.stringMatching(/marked/),
    ]);
  });

  it("has mistakes at its calls, and in definitions at their place", () => {
    const at = (found: readonly string[]) => found.map((each) => each.replace(/^\d+ /, ""));
    const wrongCall = check(both, route(["a"], "127.0.0.1:1", { value: 'marked("x")' }));
    expect(at(complaints(wrongCall))).toContainEqual(
      expect.stringMatching(/^bad-function-call: .*marked\(a, b\)/),
    );
    const wrong = gatewayOf("a", 8080, "isInternal() { request. } isA( { true }");
    const { diagnostics } = check(wrong, route(["a"], "127.0.0.1:1", { value: '"x"' }));
    const places = diagnostics.map(({ code, at: place }) => `${code} ${place.path.join(".")}`);
    expect(places).toContain("bad-function spec.rawConfig.config.customFunctions");
    const unused = gatewayOf("a", 8080, `${functionsOf("one")} unused() { true }`);
    expect(at(complaints(check(unused, route(["a"], "127.0.0.1:1"))))).toEqual([
      expect.stringMatching(/^uncalled-function: .*"unused"/),
    ]);
  });
});
