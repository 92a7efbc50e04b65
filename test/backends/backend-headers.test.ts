import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";

/** The request of a backend: its own name, and the headers that begin with `x-`. */
interface Seen {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A server that says what it got; it changes protocols for who asks. */
async function startServer(name: string): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader("x-server", "secret");
    response.setHeader("x-out", "server");
    response.end(JSON.stringify({ name, headers: request.headers }));
  });
  server.on("upgrade", ({ headers }, socket) => {
    const got = `x-got: ${headers["x-own"]}`;
    socket.end(
      `HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: echo\r\nx-server: s\r\n${got}\r\n\r\n`,
    );
  });
  return `127.0.0.1:${await listen(server)}`;
}

const ownChanges = {
  requestHeaderModifier: {
    set: { "x-own": `\${TEAM}`, "x-both": "backend" },
    add: { "x-more": "2" },
    remove: ["x-gone"],
  },
  responseHeaderModifier: { set: { "x-out": "backend" }, remove: ["x-server"] },
};

let hosts: readonly string[];
let gateway: Gateway;

beforeAll(async () => {
  hosts = await Promise.all(["changed", "plain"].map(startServer));
  const [changed, plain] = hosts;
  const backends = [{ host: changed, policies: ownChanges }, { host: plain }];
  const policies = {
    requestHeaderModifier: { set: { "x-both": "route" } },
    responseHeaderModifier: { add: { "x-out": "route" } },
  };
  const path = (pathPrefix: string) => [{ path: { pathPrefix } }];
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          { matches: path("/shared"), policies, backends },
          { matches: path("/alone"), backends: [backends[0]] },
        ],
      },
    ],
    env: { TEAM: "blue" },
  });
});

const sent = { "x-more": "1", "x-gone": "1", "x-stays": "1" };

/** A request that a backend of that name got. */
async function askUntil(name: string, url = `${gateway.url}/shared`) {
  for (;;) {
    const { headers, body } = await send(url, "GET", sent);
    const seen: Seen = JSON.parse(body);
    if (seen.name === name) return { got: seen.headers, headers };
  }
}

describe("headers of one backend", () => {
  it("are changed after those of the route, and of responses before", async () => {
    const { got, headers } = await askUntil("changed");
    expect(got).toMatchObject({ "x-own": "blue", "x-both": "backend", "x-more": "1, 2" });
    expect(got).toMatchObject({ "x-stays": "1" });
    expect(got).not.toHaveProperty("x-gone");
    expect(headers["x-out"]).toEqual(["backend", "route"]);
    expect(headers).not.toHaveProperty("x-server");
  });

  it("leave the other backends as they are", async () => {
    const { got, headers } = await askUntil("plain");
    expect(got).toMatchObject({ "x-both": "route", "x-gone": "1", "x-more": "1" });
    expect(got).not.toHaveProperty("x-own");
    expect(headers).toMatchObject({ "x-out": ["server", "route"], "x-server": "secret" });
  });

  it("are changed where a connection changes its protocol", async () => {
    const headers = { connection: "upgrade", upgrade: "echo" };
    const asking = httpRequest(`${gateway.url}/alone`, { headers }).end();
    const [response] = await once(asking, "upgrade");
    expect(response.headers).toMatchObject({ "x-got": "blue", "x-out": "backend" });
    expect(response.headers).not.toHaveProperty("x-server");
  });

  it("are filters of one reference in manifests", async () => {
    const config = manifests(await freePort(), [
      "{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Own, value: red}]}}",
      "{type: ResponseHeaderModifier, responseHeaderModifier: {remove: [x-server]}}",
    ]);
    const { url } = await startGateway({ config });
    const changed = await askUntil("changed", url);
    expect(changed.got["x-own"]).toBe("red");
    expect(changed.headers).not.toHaveProperty("x-server");
    expect((await askUntil("plain", url)).got).not.toHaveProperty("x-own");
  });

  it("may not be those of a connection, be said twice, or be of a filter that is not built", () => {
    const told = (...filters: string[]) => complaints(checkManifests(manifests(8081, filters)));
    const modifier = "{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x-a]}}";
    expect(told(modifier)).toEqual([]);
    expect(told(modifier, modifier)).toMatchObject([
      expect.stringContaining("a backend can only have one filter of type RequestHeaderModifier"),
    ]);
    const host = modifier.replace("x-a", "Host");
    expect(told(host)).toMatchObject([expect.stringContaining("Host")]);
    const mirror = "{type: RequestMirror, requestMirror: {backendRef: {name: a, port: 1}}}";
    expect(told(mirror).join()).toContain("filters of one backend of type RequestMirror");
  });
});

/** A Gateway with a route to both servers, the first one by a reference with these filters. */
function manifests(port: number, filters: readonly string[]): string {
  const names = ["changed", "plain"];
  const [first, second] = names.map(
    (name) => `group: gwc.dev, kind: GatewayBackend, name: ${name}`,
  );
  const backends = names.map((name, index) => {
    const [host, hostPort] = (hosts[index] ?? "").split(":");
    return `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {
  static: {host: ${host}, port: ${hostPort}}}}`;
  });
  return `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {
  gatewayClassName: gwc, listeners: [{name: web, port: ${port}, protocol: HTTP}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: shop}, spec: {
  parentRefs: [{name: gw}], rules: [{backendRefs: [
    {${first}, filters: [${filters.join(", ")}]}, {${second}}]}]}}
---
${backends.join("\n---\n")}`;
}
