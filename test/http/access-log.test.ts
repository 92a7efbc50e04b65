import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { exportJWK, generateKeyPair } from "jose";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { RawClient } from "../harness/raw-client.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Starts a gateway whose logging is configured. */
async function start(file: object, routes?: (upstream: string) => readonly object[], env = {}) {
  const upstream = await startUpstream((request, response) => {
    response.setHeader("x-kind", `kind of ${request.url?.split("?")[0]}`);
    response.statusCode = Number(/^\/status\/(\d+)/.exec(request.url ?? "")?.[1] ?? 200);
    response.end("ok");
  });
  const own = routes?.(upstream) ?? [{ name: "all", backends: [{ host: upstream }] }];
  const gateway = await startGateway({ file, listeners: [{ name: "http", routes: own }], env });
  return { gateway, upstream, url: `http://127.0.0.1:${gateway.port}` };
}

/** The lines of requests, once there are that many. */
function lines(gateway: Gateway, count: number): Promise<readonly string[]> {
  return eventually(() => {
    const found = gateway.output.match(/^.*(\trequest |"scope":"request").*$/gm) ?? [];
    return found.length >= count ? found : null;
  }, `${count} lines`);
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers });
  await response.text();
  return response.status;
}

it("only requests that the filter is true for have a line; one that fails has none", async () => {
  const { gateway, url } = await start({
    config: { logging: { filter: 'response.code >= 400 && request.headers["x-log"] != "no"' } },
  });
  await ask(`${url}/status/200`, { "x-log": "yes" });
  await ask(`${url}/status/404`, { "x-log": "no" });
  await ask(`${url}/status/500`);
  await ask(`${url}/status/404`, { "x-log": "yes" });
  const client = new RawClient(gateway.port);
  client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nX-Log: yes\r\n\r\n");
  await client.closes();
  const found = await lines(gateway, 2);
  expect(found).toHaveLength(2);
  expect(found[0]).toContain("http.path=/status/404 ");
  expect(found[1]).toContain("reason=BadRequest");
});

it("fields are removed, added and replaced, in both formats", async () => {
  const add = {
    agent: 'request.headers["user-agent"]',
    kind: 'response.headers["x-kind"]',
    absent: "jwt.sub",
    count: "1 + size(request.path)",
    ratio: "double(response.code) / 3.0",
    both: '{"path": request.path, "list": [1, true, null]}',
    nothing: "null",
    at: 'timestamp("2026-01-02T03:04:05Z")',
    took: "request.endTime >= request.startTime",
    "http.path": '"replaced " + request.path',
    gateway: "env.gateway",
    upstream: "backend.type",
  };
  const logging = { fields: { remove: ["http.version", "src.addr", "duration"], add } };
  const text = await start({ config: { logging } });
  await ask(`${text.url}/x?token=secret`, { "user-agent": "a b" });
  const [line = ""] = await lines(text.gateway, 1);
  const { host } = new URL(text.upstream);
  expect(line.replace(/^\S+\t/, "")).toBe(
    `info\trequest listener=http route=all endpoint=${host} http.method=GET ` +
      `http.host=127.0.0.1:${text.gateway.port} http.status=200 agent="a b" kind="kind of /x" count=3 ` +
      `ratio=66.66666666666667 both="{\\"path\\":\\"/x\\",\\"list\\":[1,true,null]}" nothing=null ` +
      `at=2026-01-02T03:04:05Z took=true http.path="replaced /x" gateway=test upstream=static`,
  );
  const json = await start({ config: { logging } }, undefined, { LOG_FORMAT: "json" });
  await ask(`${json.url}/x`, { "user-agent": "a b" });
  const [object = ""] = await lines(json.gateway, 1);
  const parsed = JSON.parse(object);
  expect(parsed).toMatchObject({
    "http.status": 200,
    agent: "a b",
    count: 3,
    both: { path: "/x", list: [1, true, null] },
    nothing: null,
    at: "2026-01-02T03:04:05Z",
    took: true,
    "http.path": "replaced /x",
  });
  for (const gone of ["http.version", "src.addr", "duration", "absent"]) {
    expect(parsed).not.toHaveProperty([gone]);
  }
});

it("no value can end a line, make a field or hide in it", async () => {
  const hostile =
    '{"a\\nb": "\\r\\n2026-01-01T00:00:00Z\\tinfo\\trequest fake=1\\u001b[31m\\u2028"}';
  const add = {
    text: 'json(request.headers["x-json"])["a\\nb"]',
    map: 'json(request.headers["x-json"])',
    list: '[json(request.headers["x-json"])]',
    bytes: 'b"\\n"',
  };
  for (const format of ["text", "json"]) {
    const { gateway, url } = await start({ config: { logging: { format, fields: { add } } } });
    await ask(url, { "x-json": hostile });
    await ask(`${url}/second`);
    const found = await lines(gateway, 2);
    expect(found).toHaveLength(2);
    expect(found[0]).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028]/);
    expect(gateway.output).not.toMatch(/^\S*\tinfo\trequest fake/m);
    if (format === "text") continue;
    const value = JSON.parse(hostile)["a\nb"];
    expect(JSON.parse(found[0] ?? "")).toMatchObject({
      text: value,
      map: { "a\nb": value },
      list: [{ "a\nb": value }],
      bytes: "Cg==",
    });
  }
});

it("a field is cut where it gets long, however long a client makes it", async () => {
  const add = { list: '[request.headers["x-long"]]' };
  const long = "x".repeat(20_000);
  for (const format of ["text", "json"]) {
    const { gateway, url } = await start({ config: { logging: { format, fields: { add } } } });
    await ask(`${url}/${long}`, { "x-long": long });
    const [line = ""] = await lines(gateway, 1);
    expect(line.match(/x+\.\.\./g)?.map(({ length }) => length)).toEqual([4098, 4097]);
    expect(line.length).toBeLessThan(10_000);
    if (format === "json") expect(JSON.parse(line)).toMatchObject({ "http.method": "GET" });
  }
});

it("identities are logged by expressions, also of requests that were refused later", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  const jwks = { inline: JSON.stringify({ keys: [publicPart(key)] }) };
  const add = {
    team: "jwt.team",
    all: "jwt",
    partner: "apiKey.partner",
    user: "basicAuth.username",
  };
  const { gateway, url } = await start(
    {
      frontendPolicies: {
        accessLog: {
          filter: "jwt.team != 'quiet' || apiKey.partner == 'a'",
          add,
          remove: ["jwt.sub"],
        },
      },
    },
    (host) => [
      {
        name: "all",
        policies: {
          jwtAuth: { mode: "optional", issuer: "https://issuer.example", jwks },
          apiKey: {
            mode: "optional",
            keys: [{ key: "${PARTNER_KEY}", metadata: { partner: "a" } }],
            location: { header: { name: "x-key" } },
          },
          authorization: { rules: [{ deny: 'request.path == "/denied"' }] },
        },
        backends: [{ host }],
      },
    ],
    { PARTNER_KEY: "key-secret" },
  );
  const claims = { iss: "https://issuer.example", sub: "alice", exp: now() + 60 };
  const token = await sign(key, { ...claims, team: "blue" });
  const quiet = await sign(key, { ...claims, team: "quiet" });
  expect(await ask(`${url}/one`, { authorization: `Bearer ${token}`, "x-key": "key-secret" })).toBe(
    200,
  );
  expect(await ask(`${url}/two`, { authorization: `Bearer ${quiet}` })).toBe(200);
  expect(await ask(`${url}/three`)).toBe(200);
  expect(await ask(`${url}/denied`, { authorization: `Bearer ${token}` })).toBe(403);
  expect(await ask(`${url}/five`, { "x-key": "key-secret" })).toBe(200);
  const found = await lines(gateway, 3);
  expect(found).toHaveLength(3);
  expect(found[0]).toMatch(/http\.path=\/one .* team=blue all=".*alice.*" partner=a duration/);
  expect(found[1]).toMatch(/http\.path=\/denied .* team=blue .*reason=Authorization/);
  expect(found[2]).toMatch(/http\.path=\/five .* partner=a duration/);
  expect(gateway.output).not.toMatch(/jwt\.sub=|user=|secret/);
  expect(gateway.output).not.toContain(token);
});

it("lines of MCP requests are filtered by their method and tool", async () => {
  const server = await startMcpServer();
  const add = {
    call: "mcp.methodName",
    tool: 'mcp.tool.name + "@" + mcp.tool.target',
    kind: "backend.type",
  };
  const remove = ["mcp.method.name", "mcp.session.id", "gen_ai.tool.name"];
  const { gateway, url } = await start(
    { config: { logging: { filter: 'mcp.methodName == "tools/call"', fields: { add, remove } } } },
    () => [
      {
        name: "tools",
        backends: [{ mcp: { targets: [{ name: "main", mcp: { host: server.url } }] } }],
      },
    ],
  );
  const client = new Client({ name: "test", version: "1.0.0" });
  // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  await client.listTools();
  await client.callTool({ name: "hello", arguments: { password: "secret" } });
  await client.listTools();
  const [line] = await lines(gateway, 1);
  expect(gateway.output.match(/\trequest /g)).toHaveLength(1);
  expect(line).toMatch(/mcp\.target=main .*call=tools\/call tool=hello@main kind=mcp/);
  expect(line).not.toMatch(/mcp\.method\.name|gen_ai|mcp\.session|secret/);
});

it("a client that left has a line without status, and a filter of its status drops it", async () => {
  let [asked, aborted] = [0, 0];
  const silent = await startUpstream((_request, response) => {
    asked += 1;
    response.on("close", () => {
      aborted += 1;
    });
  });
  const down = `http://127.0.0.1:${await freePort()}`;
  const routes = () => [
    { name: "left", matches: [{ path: { exact: "/left" } }], backends: [{ host: silent }] },
    { name: "down", backends: [{ host: down }] },
  ];
  const leave = async (port: number) => {
    const client = new RawClient(port);
    const before = asked;
    client.send("GET /left HTTP/1.1\r\nHost: a\r\n\r\n");
    await eventually(() => asked > before || null, "the request");
    client.socket.destroy();
    await eventually(() => aborted === asked || null, "the end of the request");
    await ask(`http://127.0.0.1:${port}/down`);
  };
  const add = { code: "response.code", type: 'response.headers["a"]' };
  const added = await start({ config: { logging: { fields: { add } } } }, routes);
  await leave(added.gateway.port);
  const [first, second] = await lines(added.gateway, 2);
  expect(first).toMatch(
    /http\.path=\/left http\.version=HTTP\/1\.1 reason=ClientClosed duration=\d+ms$/,
  );
  expect(second).toMatch(/http\.status=503 .*code=503 /);
  const filtered = await start({ config: { logging: { filter: "response.code < 1000" } } }, routes);
  await leave(filtered.gateway.port);
  expect(await lines(filtered.gateway, 1)).toEqual([expect.stringContaining("http.status=503")]);
});
