import { beforeEach, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";

let reached: string[] = [];

beforeEach(() => {
  reached = [];
});

function startStore(): Promise<string> {
  return startUpstream(({ url = "" }, response) => {
    reached.push(url);
    response.end("ok");
  });
}

/** One request on a connection of its own: the status. */
async function status(port: number, host: string, target: string): Promise<number> {
  const client = new RawClient(port);
  client.send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  await client.closes();
  return Number(client.received.slice(9, 12));
}

/** Paths that are something else in their one form, or have none. */
const sent = ["/b//k%2Fx", "/b/%7Etilde/./y%2fz?a=%2F", "/b/x/../k", "/b/back%5Cslash"];

it("a listener that keeps paths forwards them as sent, and another one refuses ambiguous ones", async () => {
  const host = await startStore();
  const deny = { authorization: { rules: [{ deny: 'request.path.startsWith("/admin")' }] } };
  const route = { policies: deny, backends: [{ host }] };
  const rewrite = { urlRewrite: { path: { prefix: "/new" } } };
  const gateway = await startGateway({
    listeners: [
      {
        name: "store",
        hostname: "store.test",
        pathHandling: "verbatim",
        routes: [
          {
            matches: [{ path: { pathPrefix: "/old" } }],
            policies: rewrite,
            backends: [{ host }],
          },
          route,
        ],
      },
      { name: "site", hostname: "site.test", routes: [route] },
    ],
  });
  for (const target of sent) {
    expect([target, await status(gateway.port, "store.test", target)]).toEqual([target, 200]);
  }
  expect(reached.splice(0)).toEqual(sent);
  const statuses = await Promise.all(sent.map((each) => status(gateway.port, "site.test", each)));
  expect(statuses).toEqual([400, 400, 200, 400]);
  expect(reached.splice(0)).toEqual(["/b/k"]);
  // Rules and routes see the one form.
  for (const target of ["/%61dmin", "//admin", "/x/../admin"]) {
    expect(await status(gateway.port, "store.test", target)).toBe(403);
  }
  // Paths without any form are refused everywhere.
  for (const target of ["/../k", "/a/..;/k", "/k%00", "/%zz", "/..\\k"]) {
    expect([target, await status(gateway.port, "store.test", target)]).toEqual([target, 400]);
  }
  // A policy that changes the path has the last word.
  expect(await status(gateway.port, "store.test", "/%6Fld//a%2Fb")).toBe(200);
  expect(reached).toEqual(["/new/a%2Fb"]);
});

function manifests(port: number, upstream: number, rawListener: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}}
  listeners: [{name: store, port: ${port}, protocol: HTTP}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: own}
spec: {rawConfig: {listeners: [${rawListener}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: 127.0.0.1, port: ${upstream}}}}
`;
}

it("manifests set it in the raw configuration of their parameters", async () => {
  const upstream = Number(new URL(await startStore()).port);
  const listener = "{name: store, pathHandling: verbatim}";
  const gateway = await startGateway({ config: manifests(await freePort(), upstream, listener) });
  expect(await status(gateway.port, "any.test", sent[0] ?? "")).toBe(200);
  expect(reached).toEqual([sent[0]]);
});

it("raw configuration of a listener that is not there is a mistake", () => {
  const listener = "{name: shop, pathHandling: verbatim}";
  expect(complaints(checkManifests(manifests(80, 81, listener)))).toEqual([
    expect.stringContaining('missing-section: the Gateway has no "shop"'),
  ]);
});
