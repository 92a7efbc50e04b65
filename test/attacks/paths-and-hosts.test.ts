import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { program } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";

/** The request that reached the upstream: target, Host, and headers by their CGI names. */
interface Reached {
  readonly target: string;
  readonly host: string | undefined;
  readonly headers: readonly string[];
}

let reached: Reached[] = [];

beforeEach(() => {
  reached = [];
});

const upstream = () =>
  startUpstream(({ url = "", headers, rawHeaders }, response) => {
    reached.push({ target: url, host: headers.host, headers: rawHeaders });
    response.end("ok");
  });

/** One request on a connection of its own: the status. */
async function status(port: number, target: string, fields = "Host: a.test\r\n"): Promise<number> {
  const client = new RawClient(port);
  client.send(`GET ${target} HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`);
  await client.closes();
  return Number(client.received.slice(9, 12));
}

const guarded = { authorization: { rules: [{ deny: 'request.path.startsWith("/admin")' }] } };

/** Ways to write `/admin` that servers read as it. */
const spellings = [
  "/admin",
  "/%61dmin",
  "/%61%64%6d%69%6e",
  "//admin",
  "///admin/x",
  "/./admin",
  "/x/../admin",
  "/x/%2e%2e/admin",
  "/x/.%2E/admin",
  "/x/..\\admin",
  "/x/..%5cadmin",
  "/x/..;/admin",
  "/x/..;a=b/admin",
  "/x/..%3b/admin",
  "/x%2f..%2fadmin",
  "/..//admin",
  "/admin%00",
];

describe("a rule on a path", () => {
  it("is not passed by another spelling of it", async () => {
    const { port } = await startGateway({
      listeners: [{ routes: [{ policies: guarded, backends: [{ host: await upstream() }] }] }],
    });
    for (const target of spellings) {
      expect([target, [400, 403]]).toEqual([
        target,
        expect.arrayContaining([await status(port, target)]),
      ]);
    }
    expect(reached).toEqual([]);
  });

  it("is about the very path that goes upstream", async () => {
    const { port } = await startGateway({
      listeners: [{ routes: [{ policies: guarded, backends: [{ host: await upstream() }] }] }],
    });
    const forms = {
      "/Admin": "/Admin",
      "/%41dmin": "/Admin",
      "/a//b/./c/../d?x=%61/../e": "/a/b/d?x=%61/../e",
      "/caf%c3%a9/%7euser": "/caf%C3%A9/~user",
      "/%2561dmin": "/%2561dmin",
      "/a;b=1/c": "/a;b=1/c",
    };
    for (const target of Object.keys(forms)) expect(await status(port, target)).toBe(200);
    expect(reached.map(({ target }) => target)).toEqual(Object.values(forms));
  });

  it("chooses the route of the path, however it is written", async () => {
    const host = await upstream();
    const denied = { authorization: { rules: [{ deny: "true" }] } };
    const { port } = await startGateway({
      listeners: [
        {
          routes: [
            {
              matches: [{ path: { pathPrefix: "/admin" } }],
              policies: denied,
              backends: [{ host }],
            },
            { matches: [{ path: { pathPrefix: "/" } }], backends: [{ host }] },
          ],
        },
      ],
    });
    for (const target of spellings) expect([400, 403]).toContain(await status(port, target));
    expect(reached).toEqual([]);
  });

  it("holds before a WSGI server, which decodes paths", async () => {
    const script = `
from wsgiref.simple_server import make_server, WSGIRequestHandler
class Quiet(WSGIRequestHandler):
    def log_message(self, *parts): pass
def app(environ, start):
    start("200 OK", [("content-type", "text/plain")])
    return [environ["PATH_INFO"].encode("latin-1") + b" " + environ.get("HTTP_X_USER", "-").encode()]
server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
`;
    const child = spawn(program("python3"), ["-c", script], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const wsgi = await eventually(() => /\d+\n/.exec(output)?.[0].trim() ?? null, "its port");
    const set = { requestHeaderModifier: { set: { "x-user": "checked" } } };
    const { port } = await startGateway({
      listeners: [
        {
          routes: [{ policies: { ...guarded, ...set }, backends: [{ host: `127.0.0.1:${wsgi}` }] }],
        },
      ],
    });
    for (const target of spellings) expect([400, 403]).toContain(await status(port, target));
    const client = new RawClient(port);
    const fields = "Host: a.test\r\nX_User: root\r\nX-User: root\r\nx_USER: root\r\n";
    client.send(`GET /%66ree HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`);
    await client.closes();
    expect(client.received).toMatch(/\/free checked$/);
  });
});

describe("a listener for a host", () => {
  it("is not passed by another spelling of the host", async () => {
    const host = await upstream();
    const denied = { authorization: { rules: [{ deny: "true" }] } };
    const { port } = await startGateway({
      listeners: [
        {
          name: "admin",
          hostname: "admin.test",
          routes: [{ policies: denied, backends: [{ host }] }],
        },
        {
          name: "rest",
          routes: [{ policies: { hostRewrite: { mode: "None" } }, backends: [{ host }] }],
        },
      ],
    });
    const ask = (name: string) => status(port, "/", `Host: ${name}\r\n`);
    for (const name of ["admin.test", "ADMIN.test", "admin.test.", "admin.test.:80"]) {
      expect([name, await ask(name)]).toEqual([name, 403]);
    }
    for (const name of [
      "admin%2etest",
      "admin..test",
      "admin.test..",
      ".admin.test",
      "admin_test",
    ]) {
      expect([name, await ask(name)]).toEqual([name, 400]);
    }
    expect(reached).toEqual([]);
    expect(await ask("Other.Test.:81")).toBe(200);
    expect(reached.map((each) => each.host)).toEqual(["other.test:81"]);
  });
});

describe("a header that a policy set, removed or authenticates by", () => {
  it("has no lookalike", async () => {
    const host = await upstream();
    const { port } = await startGateway({
      listeners: [
        {
          routes: [
            {
              policies: {
                apiKey: {
                  mode: "optional",
                  location: { header: { name: "x-api-key" } },
                  keys: [{ key: "${KEY}" }],
                },
                requestHeaderModifier: { set: { "x-user": "checked" }, remove: ["x-debug-mode"] },
              },
              backends: [{ host }],
            },
          ],
        },
      ],
      env: { KEY: "the-key-of-this-test" },
    });
    const fields = ["X_User: root", "X_Api_Key: forged", "x_debug-mode: on", "x_other_name: kept"];
    expect(await status(port, "/", `Host: a.test\r\n${fields.join("\r\n")}\r\n`)).toBe(200);
    const names = reached[0]?.headers.filter((_, index) => index % 2 === 0) ?? [];
    expect(names.filter((name) => /_/.test(name))).toEqual(["x_other_name"]);
    expect(reached[0]?.headers.filter((_, index, all) => all[index - 1] === "x-user")).toEqual([
      "checked",
    ]);
  });
});

describe("a change of the protocol", () => {
  it("is not made to another version of HTTP, or to TLS", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.upgrade);
      response.end("ok");
    });
    server.on("upgrade", (request, socket) => {
      seen.push(request.headers.upgrade);
      socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    });
    const host = `127.0.0.1:${await listen(server)}`;
    const { port } = await startGateway({ listeners: [{ routes: [{ backends: [{ host }] }] }] });
    for (const protocol of ["HTTP/2.0", "h2c", "TLS/1.0", "TLS/1.2, HTTP/1.1", "http/3"]) {
      const client = new RawClient(port);
      const fields = `Host: a\r\nUpgrade: ${protocol}\r\nConnection: upgrade`;
      client.send(`GET / HTTP/1.1\r\n${fields}\r\n\r\n`);
      await eventually(() => client.received.includes("ok") || null, `a response to ${protocol}`);
      expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
    }
    expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});
