import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { findings } from "../policies/refused.ts";

/** SHA-1 of `pass-sha`, as htpasswd has it. */
const users = "sha:{SHA}DAQZCQEbf+4ltq84dNFKcCdGjl4=";
const authorization = `Basic ${Buffer.from("sha:pass-sha").toString("base64")}`;
/** The paths of the requests that each server has got. */
const got: Record<string, (string | undefined)[]> = { guarded: [], plain: [] };
let servers: readonly string[];
let gateway: Gateway;
let manifested: Gateway;

async function startServer(name: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    got[name]?.push(url);
    response.writeHead(headers["x-fail"] === undefined ? 200 : 503).end(name);
  });
  server.on("upgrade", ({ url }, socket) => {
    got[name]?.push(url);
    socket.end("HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n");
  });
  return `127.0.0.1:${await listen(server)}`;
}

const onOne = (host: string | undefined, ...rules: readonly (string | object)[]) => ({
  host,
  policies: { authorization: { rules } },
});

beforeAll(async () => {
  servers = await Promise.all(["guarded", "plain"].map(startServer));
  const [guarded, plain] = servers;
  const rule = 'basicAuth.username == "sha"';
  const route = (name: string, policies: object, ...backends: readonly object[]) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends,
  });
  const basicAuth = { htpasswd: "${USERS}", mode: "optional" };
  const retry = { attempts: 20, codes: [403, 503] };
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("one", { basicAuth }, onOne(guarded, rule)),
          route("bodies", {}, onOne(guarded, 'string(request.body) == "good"')),
          route("shared", { retry }, onOne(guarded, "request.method == 'PUT'"), { host: plain }),
        ],
      },
    ],
    env: { USERS: users },
  });
  const port = (server = "") => server.split(":")[1];
  manifested = await startGateway({
    config: `${gatewayManifest(await freePort())}
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: 127.0.0.1, port: ${port(guarded)}}, policies: {authorization: {action: Deny, policy: {matchExpressions: ["request.method == 'PUT'"]}}}}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}], backend: {authorization: {action: Deny, policy: {matchExpressions: ["request.path == '/secret'"]}}}}}`,
  });
});

describe("rules of one backend", () => {
  it("decide by who asks, once it is chosen, and the log says which one refused", async () => {
    const refused = await send(`${gateway.url}/one/a`, "GET");
    expect([refused.status, refused.body.trim()]).toEqual([403, "authorization failed"]);
    expect(got.guarded).toEqual([]);
    const line = await gateway.seen(/http\.path=\/one\/a .*/);
    expect(line[0]).toContain("reason=Authorization");
    expect(line[0]).toContain("backends[0].policies.authorization: no rule allows it");
    const allowed = await send(`${gateway.url}/one/b`, "GET", { authorization });
    expect([allowed.status, allowed.body]).toEqual([200, "guarded"]);
  });

  it("refuse requests for another protocol", async () => {
    const headers = { connection: "upgrade", upgrade: "echo" };
    const [refused] = await once(httpRequest(`${gateway.url}/one`, { headers }).end(), "response");
    expect(refused.statusCode).toBe(403);
    refused.resume();
    const known = { ...headers, authorization };
    const [agreed] = await once(
      httpRequest(`${gateway.url}/one`, { headers: known }).end(),
      "upgrade",
    );
    expect(agreed.statusCode).toBe(101);
  });

  it("may read bodies", async () => {
    const ask = async (body: string) =>
      (await send(`${gateway.url}/bodies`, "POST", {}, body)).status;
    expect([await ask("bad"), await ask("good")]).toEqual([403, 200]);
  });

  it("hold for its share of a route alone; a refusal is final, whatever is tried again", async () => {
    const seen = new Set<string>();
    while (seen.size < 2) {
      const { status, body } = await send(`${gateway.url}/shared/x`, "GET");
      seen.add(`${status} ${body.trim()}`);
    }
    expect([...seen].toSorted()).toEqual(["200 plain", "403 authorization failed"]);
    expect(got.guarded).not.toContain("/shared/x");
  });

  it("of several manifests are joined", async () => {
    const ask = async (method: string, path: string) =>
      (await send(`${manifested.url}${path}`, method)).status;
    expect(await ask("GET", "/a")).toBe(200);
    expect(await ask("PUT", "/a")).toBe(403);
    expect(await ask("GET", "/secret")).toBe(403);
  });

  it("can't be set where nothing is forwarded, or read an identity that no policy establishes", () => {
    const authorization = { rules: ["true"] };
    const targets = [{ name: "one", mcp: { host: "http://a.test/mcp" } }];
    const of = (backend: Readonly<Record<string, unknown>>) =>
      findings({ policies: {}, backends: [backend] });
    expect(of({ mcp: { targets }, policies: { authorization } })).toContain("misplaced-field");
    expect(of({ ...onOne("a.test:80", "jwt.sub == 'a'") })).toEqual(["absent-identity"]);
    // Access to an open proxy may be restricted there.
    expect(of({ dynamic: {} })).toContain("open-proxy");
    const rules = ['request.host == "a.test"'];
    expect(of({ dynamic: {}, policies: { authorization: { rules } } })).not.toContain("open-proxy");
  });
});

describe("answers about access include them", () => {
  const file = (...backends: readonly object[]) =>
    JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes: [{ name: "r", backends }] }] }] });
  const isGet = 'request.method == "GET"';

  it("by `can`", async () => {
    const alone = file(onOne("127.0.0.1:1", isGet));
    const shared = file(onOne("127.0.0.1:1", isGet), { host: "127.0.0.1:2" });
    const folder = temporaryFolder({ "alone.yaml": alone, "shared.yaml": shared });
    const can = (name: string, method: string) =>
      gwc(["can", method, "http://x.test/", "-f", name], { cwd: folder });
    expect((await can("alone.yaml", "PUT")).stdout).toContain(`no rule allows it`);
    expect((await can("alone.yaml", "GET")).stdout).toContain(`allowed by ${isGet}`);
    expect((await can("shared.yaml", "PUT")).stdout).toContain("the chosen backend has rules");
  });

  it("by `diff`", async () => {
    const folder = temporaryFolder({
      "before.yaml": file(onOne("127.0.0.1:1", isGet)),
      "after.yaml": file({ host: "127.0.0.1:1" }),
    });
    const { stdout } = await gwc(["diff", "before.yaml", "after.yaml"], { cwd: folder });
    expect(stdout).toMatch(/OPENS\s+route r/);
    expect(stdout).toContain("request.method");
  });
});
