import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

const policy = (spec: string) =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], ${spec}}}`;

const route = `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: shop}, spec: {
  parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]}}`;

const shop = (port: string) =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: shop}, spec: {static: {host: 127.0.0.1, port: ${port}}}}`;

describe("url instead of backendRef", () => {
  const asked: string[] = [];
  const collected: string[] = [];
  let gateway: Gateway;

  beforeAll(async () => {
    const [upstream, checker, collector] = await Promise.all([
      startUpstream((_, response) => response.end("shop")),
      startUpstream((request, response) => {
        asked.push(request.url ?? "");
        response.statusCode = request.headers.authorization === "Bearer yes" ? 200 : 403;
        response.end();
      }),
      startUpstream((request, response) => {
        collected.push(request.url ?? "");
        response.end("{}");
      }),
    ]);
    gateway = await startGateway({
      config: [
        gatewayManifest(await freePort()),
        route,
        shop(new URL(upstream).port),
        policy(`traffic: {extAuth: {url: '${checker}/check', http: {}}},
          frontend: {tracing: {url: '${collector}/spans', randomSampling: "true"}}`),
      ].join("\n---\n"),
    });
  });

  it("asks an authorization server at the path of its URL", async () => {
    const { status } = await send(`${gateway.url}/cart`, "GET", { authorization: "Bearer yes" });
    expect(status).toBe(200);
    expect((await send(`${gateway.url}/cart`, "GET")).status).toBe(403);
    expect(asked).toEqual(["/check", "/check"]);
  });

  it("sends spans to the path of its URL", async () => {
    await send(`${gateway.url}/cart`, "GET", { authorization: "Bearer yes" });
    await expect.poll(() => collected).toContain("/spans");
  });
});

it("a policy cannot name its server twice", () => {
  const both = "{url: 'http://a.test', backendRef: {name: a, port: 80}, http: {}}";
  const checked = checkManifests(
    [gatewayManifest(8080), route, shop("80"), policy(`traffic: {extAuth: ${both}}`)].join(
      "\n---\n",
    ),
  );
  expect(complaints(checked).join("\n")).toContain('exactly one of "backendRef" and "url"');
});
