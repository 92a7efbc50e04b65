import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";
import { findings } from "../policies/refused.ts";

/** A server that says what it got; for `/broken` it is out of order, for `/zip` it compresses. */
async function startServer(name: string): Promise<string> {
  const server = createServer(({ method, url, headers }, response) => {
    response.setHeader("x-server", "secret");
    if (url?.endsWith("/broken")) {
      response.writeHead(503).end(name);
      return;
    }
    const text = JSON.stringify({ name, method, url, headers });
    if (!url?.endsWith("/zip")) response.end(text);
    else response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
  });
  server.on("upgrade", ({ headers }, socket) => {
    const got = `x-got: ${headers["x-user"]}`;
    socket.end(`HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: echo\r\n${got}\r\n\r\n`);
  });
  return `127.0.0.1:${await listen(server)}`;
}

/** A server that gives back what it gets. */
async function startEcho(): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader("x-type", request.headers["content-encoding"] ?? "plain");
    request.pipe(response);
  });
  return `127.0.0.1:${await listen(server)}`;
}

/** SHA-1 of `pass-sha`, as htpasswd has it. */
const users = "sha:{SHA}DAQZCQEbf+4ltq84dNFKcCdGjl4=";
const authorization = `Basic ${Buffer.from("sha:pass-sha").toString("base64")}`;

let gateway: Gateway;
let manifested: Gateway;

beforeAll(async () => {
  const [changed = "", plain = ""] = await Promise.all(["changed", "plain"].map(startServer));
  const echo = await startEcho();
  const path = (pathPrefix: string) => [{ path: { pathPrefix } }];
  const own = {
    request: {
      set: { "x-user": "basicAuth.username", ":path": '"/new" + request.path', "x-both": '"own"' },
      remove: ["x-gone"],
    },
    response: { set: { "x-out": "string(response.code)" }, remove: ["x-server"] },
  };
  const named = { request: { set: { "x-name": '"named"' } } };
  const config = {
    backends: [{ name: "named", host: plain, policies: { transformations: named } }],
    binds: [
      {
        port: await freePort(),
        listeners: [
          {
            routes: [
              {
                name: "shared",
                matches: path("/shared"),
                policies: {
                  basicAuth: { htpasswd: "${USERS}", realm: "x" },
                  transformations: {
                    request: { set: { "x-both": '"route"' } },
                    response: { set: { "x-seen": 'response.headers["x-out"]' } },
                  },
                },
                backends: [
                  { host: changed, policies: { transformations: own } },
                  { backend: "named" },
                ],
              },
              {
                name: "bodies",
                matches: path("/bodies"),
                backends: [
                  {
                    host: echo,
                    policies: {
                      transformation: {
                        request: { body: '"<" + string(request.body) + ">"' },
                        response: { body: 'string(response.body) + "!"' },
                      },
                    },
                  },
                ],
              },
              {
                name: "read",
                matches: path("/read"),
                backends: [
                  {
                    host: changed,
                    policies: {
                      transformations: {
                        response: { set: { "x-name": "json(response.body).name" } },
                      },
                    },
                  },
                ],
              },
              {
                name: "again",
                matches: path("/again"),
                policies: { retry: { attempts: 20, codes: [499] } },
                backends: [
                  {
                    host: changed,
                    policies: { transformations: { response: { set: { ":status": "499" } } } },
                  },
                  { host: plain },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  gateway = await startGateway({ config, env: { USERS: users } });
  const backends = [changed, plain].map((host, index) => {
    const [name, port] = host.split(":");
    const policies =
      index === 1
        ? ""
        : `, policies: {transformation: {request: {set: [{name: x-user, value: request.method}]}, response: {remove: [x-server]}}}`;
    return `{apiVersion: agentgateway.dev/v1alpha1, kind: AgentgatewayBackend, metadata: {name: b${index}}, spec: {static: {host: ${name}, port: ${port}}${policies}}}`;
  });
  const reference = (index: number) =>
    `{group: agentgateway.dev, kind: AgentgatewayBackend, name: b${index}}`;
  const manifests = [
    gatewayManifest(await freePort()),
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [${reference(0)}, ${reference(1)}]}]}}\n---\n`,
    backends.join("\n---\n"),
    `\n---\n{apiVersion: agentgateway.dev/v1alpha1, kind: AgentgatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], backend: {transformation: {request: {set: [{name: x-route, value: request.path}]}}}}}`,
  ];
  manifested = await startGateway({ config: manifests.join("") });
});

interface Seen {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks until a server answers; what it got, and the headers of its response. */
async function askUntil(name: string, url: string, headers: Record<string, string> = {}) {
  for (;;) {
    const response = await send(url, "GET", headers);
    expect(response.status).toBe(200);
    const got: Seen = JSON.parse(response.body);
    if (got.name === name) return { got, headers: response.headers };
  }
}

describe("transformations of one backend", () => {
  it("change what it gets after its route does, and its responses before", async () => {
    const sent = { authorization, "x-gone": "1", "x-user": "forged" };
    const { got, headers } = await askUntil("changed", `${gateway.url}/shared/a?b=c`, sent);
    expect(got).toMatchObject({
      url: "/new/shared/a",
      headers: { "x-user": "sha", "x-both": "own" },
    });
    expect(got.headers).not.toHaveProperty("x-gone");
    expect(headers).toMatchObject({ "x-out": "200", "x-seen": "200" });
    expect(headers).not.toHaveProperty("x-server");
  });

  it("leave the others as they are; those of a named one go with its name", async () => {
    const sent = { authorization, "x-gone": "1" };
    const { got, headers } = await askUntil("plain", `${gateway.url}/shared/a?b=c`, sent);
    expect(got).toMatchObject({
      url: "/shared/a?b=c",
      headers: { "x-both": "route", "x-gone": "1", "x-name": "named" },
    });
    expect(headers["x-server"]).toBe("secret");
    expect(headers).not.toHaveProperty("x-out");
  });

  it("replace bodies by what they were", async () => {
    const response = await send(`${gateway.url}/bodies`, "POST", {}, "hello");
    expect([response.status, response.body]).toEqual([200, "<hello>!"]);
    expect(response.headers["content-length"]).toBe("8");
  });

  it("read a body that comes compressed all the same, and pass it on as it came", async () => {
    const response = await fetch(`${gateway.url}/read/zip`);
    expect(response.headers.get("x-name")).toBe("changed");
    expect(await response.json()).toMatchObject({ name: "changed" });
    const head = await fetch(`${gateway.url}/read/x`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("are those of the backend that an attempt goes to", async () => {
    for (let i = 0; i < 10; i += 1) {
      const response = await send(`${gateway.url}/again`, "GET");
      expect([response.status, JSON.parse(response.body).name]).toEqual([200, "plain"]);
    }
  });

  it("change requests for another protocol", async () => {
    let got: unknown;
    while (got === undefined || got === "undefined") {
      const headers = { connection: "upgrade", upgrade: "echo", authorization };
      const request = httpRequest(`${gateway.url}/shared`, { headers }).end();
      const [response] = await once(request, "upgrade");
      got = response.headers["x-got"];
    }
    expect(got).toBe("sha");
  });

  it("are set in manifests, on the backend or on the way to it", async () => {
    const changed = await askUntil("changed", `${manifested.url}/x`);
    expect(changed.got.headers).toMatchObject({ "x-user": "GET" });
    expect(changed.got.headers).not.toHaveProperty("x-route");
    expect(changed.headers).not.toHaveProperty("x-server");
    const plain = await askUntil("plain", `${manifested.url}/x`);
    expect(plain.got.headers).toMatchObject({ "x-route": "/x" });
    expect(plain.headers["x-server"]).toBe("secret");
  });

  it("can't be where nothing is passed on, or say what a route alone can", () => {
    const of = (backend: Readonly<Record<string, unknown>>) =>
      findings({ policies: {}, backends: [backend] });
    const change = { request: { set: { "x-a": '"b"' } } };
    const targets = [{ name: "one", mcp: { host: "http://a.test/mcp" } }];
    expect(of({ mcp: { targets }, policies: { transformations: change } })).toEqual([
      "misplaced-field",
    ]);
    const host = (transformations: object) =>
      of({ host: "a.test:80", policies: { transformations } });
    expect(host(change)).toEqual([]);
    expect(host({ request: { set: { ":scheme": '"https"' } } })).toEqual(["pseudo-header"]);
    expect(host({ request: { metadata: { a: "1" } } })).toEqual(["not-built-yet"]);
    expect(host({ request: { set: { "x-a": "jwt.sub" } } })).toEqual(["absent-identity"]);
    const mirror = JSON.stringify({
      backends: [{ name: "copy", host: "a.test:80", policies: { transformations: change } }],
      binds: [
        {
          port: 80,
          listeners: [
            {
              routes: [
                {
                  policies: { requestMirror: { backend: { backend: "copy" } } },
                  backends: [{ host: "b.test:80" }],
                },
              ],
            },
          ],
        },
      ],
    });
    expect(complaints(checkManifests({ "gateway.yaml": mirror })).join()).toContain(
      'there are only those of "requestMirror"',
    );
    const mcp = `${gatewayManifest(80)}{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: m}, spec: {mcp: {targets: [{name: one, static: {host: a.test, port: 80}}]}, policies: {transformation: {request: {set: [{name: x-a, value: "1"}]}}}}}`;
    expect(complaints(checkManifests(mcp)).join()).toContain('"transformation" applies to');
  });
});
