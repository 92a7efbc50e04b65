import { connect } from "node:http2";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";

let gateway: Gateway;
let echo: Echo;
let bodies: Scripted;
let key: JWK;
let server: Awaited<ReturnType<typeof startMcpServer>>;

const path = (pathPrefix: string) => [{ path: { pathPrefix } }];

beforeAll(async () => {
  echo = await startEcho();
  bodies = await startScripted((response, _count, { body }) => response.end(body));
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  const issuer = { issuer: "test", jwks: JSON.stringify({ keys: [publicPart(key)] }) };
  server = await startMcpServer();
  const backends = [{ host: new URL(echo.url).host }];
  const direct = (body: string) => ({ directResponse: { status: 200, body } });
  gateway = await startGateway({
    listeners: [
      {
        name: "changing",
        hostname: "*.changing.test",
        policies: {
          transformations: {
            request: {
              set: {
                ":path": 'request.headers["x-path"]',
                ":method": 'request.headers["x-method"]',
                ":authority": 'request.headers["x-authority"]',
                ":scheme": '"https"',
                "x-tier": 'request.headers["x-key"] == "1" ? "gold" : "basic"',
              },
            },
            response: { set: { "x-gateway": '"1"' } },
          },
        },
        routes: [
          {
            name: "gold",
            matches: [
              {
                path: { pathPrefix: "/tier" },
                headers: [{ name: "x-tier", value: { exact: "gold" } }],
              },
            ],
            policies: direct("gold"),
          },
          { name: "basic", matches: path("/tier"), policies: direct("basic") },
          {
            name: "asked",
            matches: [
              { path: { pathPrefix: "/q" }, query: [{ name: "a", value: { exact: "1" } }] },
            ],
            policies: direct("query"),
          },
          { name: "posted", matches: [{ path: { pathPrefix: "/m" }, method: "POST" }], backends },
          { name: "other", matches: path("/m"), backends },
          {
            name: "hosted",
            hostnames: ["api.changing.test"],
            matches: path("/host"),
            policies: direct("api"),
          },
          {
            name: "kept",
            matches: path("/kept"),
            policies: { hostRewrite: { mode: "None" } },
            backends,
          },
          {
            name: "moved",
            matches: path("/moved"),
            policies: { requestRedirect: { authority: { host: "new.test" }, status: 302 } },
          },
          {
            name: "ruled",
            matches: path("/ruled"),
            policies: { authorization: { rules: ['request.path == "/ruled/ok"'] } },
            backends,
          },
        ],
      },
      {
        name: "guarded",
        hostname: "guarded.test",
        policies: {
          cors: { allowOrigins: ["https://app.test"] },
          jwtAuth: issuer,
          authorization: { rules: [{ deny: 'request.path.startsWith("/closed")' }] },
        },
        routes: [
          {
            name: "alice",
            matches: path("/alice"),
            policies: {
              authorization: { rules: ['jwt.sub == "alice"'] },
              transformations: { request: { set: { "x-sub": "jwt.sub" } } },
            },
            backends,
          },
          {
            name: "again",
            matches: path("/again"),
            policies: { jwtAuth: issuer },
            backends,
          },
          {
            name: "passed",
            matches: path("/passed"),
            backends: [{ ...backends[0], policies: { backendAuth: { passthrough: {} } } }],
          },
        ],
      },
      {
        name: "whole",
        hostname: "whole.test",
        policies: {
          transformations: {
            request: {
              set: { ":path": '"/" + string(json(request.body).to)' },
              body: '{"was": string(request.body)}',
            },
          },
        },
        routes: [
          {
            name: "named",
            matches: path("/named"),
            policies: { authorization: { rules: ["has(json(request.body).was)"] } },
            backends: [{ host: bodies.host }],
          },
        ],
      },
      {
        name: "tools",
        hostname: "tools.test",
        policies: { jwtAuth: { ...issuer, mode: "optional" } },
        routes: [
          {
            name: "mcp",
            policies: {
              mcpAuthorization: {
                rules: ['mcp.tool.name == "hello"', 'jwt.sub == "alice" && mcp.tool.name == "add"'],
              },
            },
            backends: [{ mcp: { targets: [{ name: "one", mcp: { host: server.url } }] } }],
          },
        ],
      },
      {
        name: "sites",
        hostname: "sites.test",
        policies: {
          transformations: {
            request: {
              set: { ":authority": '"inner.test"', ":method": 'request.headers["x-method"]' },
            },
          },
        },
        routes: [{ name: "form", matches: path("/form"), policies: { csrf: {} }, backends }],
      },
      {
        name: "limited",
        hostname: "limited.test",
        policies: { localRateLimit: [{ requests: 2, unit: "Hours" }] },
        routes: [{ name: "a", matches: path("/a"), policies: direct("a") }],
      },
      {
        name: "closed",
        hostname: "closed.test",
        policies: { directResponse: { status: 503, body: "closed today" } },
      },
    ],
  });
});

/** Sends a request to a listener, by its host name. */
function ask(
  listener: string,
  target: string,
  headers: Record<string, string> = {},
  method = "GET",
  body?: string,
) {
  const host = (headers.host ?? listener === "changing") ? "www.changing.test" : `${listener}.test`;
  return send(`${gateway.url}${target}`, method, { ...headers, host }, body);
}

async function bearer(sub: string): Promise<{ authorization: string }> {
  const token = await sign(key, { iss: "test", sub, exp: now() + 600 }, { alg: "ES256" });
  return { authorization: `Bearer ${token}` };
}

function echoed({ body }: { body: string }): Echoed {
  return JSON.parse(body);
}

describe("a request that is changed before routing takes its new route", () => {
  it("by a header", async () => {
    expect((await ask("changing", "/tier", { "x-key": "1" })).body).toBe("gold");
    expect((await ask("changing", "/tier", { "x-tier": "gold" })).body).toBe("basic");
  });

  it("by path and query", async () => {
    const response = await ask("changing", "/nowhere", { "x-path": "/q?a=1" });
    expect(response.body).toBe("query");
    expect((await ask("changing", "/q?a=1", { "x-path": "/q?a=2" })).status).toBe(404);
    const rule = { "x-path": "/ruled/ok" };
    expect(echoed(await ask("changing", "/ruled/no", rule))).toMatchObject({ url: "/ruled/ok" });
    expect((await ask("changing", "/ruled/no")).status).toBe(403);
  });

  it("by method", async () => {
    await ask("changing", "/m", { "x-method": "POST" });
    const response = await ask("changing", "/m", { "x-method": "POST" });
    expect(echoed(response).method).toBe("POST");
    await expect.poll(() => gateway.output).toMatch(/route=posted .*http\.method=GET/);
    expect((await ask("changing", "/m", { "x-method": "CONNECT" })).status).toBe(400);
  });

  it("by host, which upstreams with the client's name then see", async () => {
    const to = { "x-authority": "API.changing.test:8443" };
    expect((await ask("changing", "/host", to)).body).toBe("api");
    expect((await ask("changing", "/host")).status).toBe(404);
    const { headers } = echoed(await ask("changing", "/kept", to));
    expect(headers.host).toBe("api.changing.test:8443");
  });

  it("and a redirect leads to its scheme", async () => {
    const { headers } = await ask("changing", "/moved/x");
    expect(headers.location).toBe("https://new.test/moved/x");
  });

  it("and is a 400 if the value is invalid in a request", async () => {
    expect((await ask("changing", "/tier", { "x-path": "/a/../tier" })).body).toBe("basic");
    for (const wrong of ["/../tier", "tier", "/ruled/ok bad"]) {
      expect((await ask("changing", "/tier", { "x-path": wrong })).status).toBe(400);
    }
    for (const wrong of ["a b", "api.changing.test/x", ""]) {
      expect((await ask("changing", "/kept", { "x-authority": wrong })).status).toBe(400);
    }
  });

  it("responses of the gateway itself are transformed, too", async () => {
    const response = await ask("changing", "/nowhere");
    expect([response.status, response.headers["x-gateway"]]).toEqual([404, "1"]);
  });

  it("by its body, which is then replaced", async () => {
    const sent = '{"to": "named"}';
    const response = await ask("whole", "/", { "content-type": "application/json" }, "POST", sent);
    expect(JSON.parse(response.body)).toEqual({ was: sent });
  });
});

describe("a response to a request of another method is framed for the client's", () => {
  it("a GET that became HEAD has no body", async () => {
    const response = await ask("changing", "/m", { "x-method": "HEAD" });
    expect([response.status, response.body]).toEqual([200, ""]);
    expect(echoed(await ask("changing", "/m")).method).toBe("GET");
  });

  it("a HEAD that became GET has no body", async () => {
    const response = await ask("changing", "/m", { "x-method": "GET" }, "HEAD");
    expect([response.status, response.body]).toEqual([200, ""]);
    expect(echoed(await ask("changing", "/m")).method).toBe("GET");
  });
});

it("over HTTP/2, path, method and authority decide as well", async () => {
  const session = connect(gateway.url);
  const get = async (headers: Record<string, string>) => {
    const stream = session.request({
      ":path": "/nowhere",
      ":authority": "www.changing.test",
      ...headers,
    });
    let [status, body] = [0, ""];
    stream.on("response", (head) => {
      status = Number(head[":status"]);
    });
    for await (const chunk of stream.setEncoding("utf8")) body += chunk;
    return { status, body };
  };
  try {
    expect(await get({ "x-path": "/q?a=1" })).toEqual({ status: 200, body: "query" });
    const to = { "x-path": "/host", "x-authority": "api.changing.test" };
    expect(await get(to)).toEqual({ status: 200, body: "api" });
    expect(await get({ "x-path": "/m", "x-method": "HEAD" })).toEqual({ status: 200, body: "" });
    const head = { ":method": "HEAD", "x-path": "/m", "x-method": "GET" };
    expect(await get(head)).toEqual({ status: 200, body: "" });
    expect((await get({ "x-path": "/m", "x-method": "POST" })).status).toBe(200);
  } finally {
    session.close();
  }
});

describe("credentials are checked before there is a route", () => {
  it("even if no route matches, with the CORS headers of the listener", async () => {
    const origin = { origin: "https://app.test" };
    const refused = await ask("guarded", "/nowhere", origin);
    expect(refused.status).toBe(401);
    expect(refused.headers["access-control-allow-origin"]).toBe("https://app.test");
    const bob = await bearer("bob");
    const unknown = await ask("guarded", "/nowhere", { ...origin, ...bob });
    expect(unknown.status).toBe(404);
    expect(unknown.headers["access-control-allow-origin"]).toBe("https://app.test");
    expect((await ask("guarded", "/closed", bob)).status).toBe(403);
    const log = () => gateway.output;
    await expect.poll(log).toMatch(/listener=guarded .*http\.status=401 .*reason=JwtAuth/);
  });

  it("a preflight needs none", async () => {
    const preflight = { origin: "https://app.test", "access-control-request-method": "GET" };
    expect((await ask("guarded", "/alice", preflight, "OPTIONS")).status).toBe(200);
  });

  it("and routes read the claims", async () => {
    const { headers } = echoed(await ask("guarded", "/alice", await bearer("alice")));
    expect(headers["x-sub"]).toBe("alice");
    expect(headers.authorization).toBeUndefined();
    expect((await ask("guarded", "/alice", await bearer("bob"))).status).toBe(403);
  });

  it("a check of the route sees the token again", async () => {
    const { authorization } = await bearer("alice");
    const again = echoed(await ask("guarded", "/again", { authorization }));
    expect(again.headers.authorization).toBeUndefined();
    const passed = echoed(await ask("guarded", "/passed", { authorization }));
    expect(passed.headers.authorization).toBe(authorization);
  });
});

it("MCP rules know the identity from a listener's policies", async () => {
  const tools = async (headers: Record<string, string>) => {
    const response = await ask(
      "tools",
      "/mcp",
      {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      "POST",
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    );
    return [...response.body.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
  };
  expect(await tools({})).toEqual(["hello"]);
  expect(await tools(await bearer("alice"))).toEqual(["hello", "add"]);
  expect(await tools({ authorization: "Bearer no.valid.token" })).toEqual([]);
});

it("cross-site requests are detected by the original method", async () => {
  const form = (headers: Record<string, string>, method = "POST") =>
    ask("sites", "/form", headers, method).then(({ status }) => status);
  expect(await form({ origin: "http://sites.test" })).toBe(200);
  expect(await form({ origin: "http://inner.test" })).toBe(403);
  expect(await form({ origin: "http://evil.test" }, "GET")).toBe(200);
  expect(await form({ origin: "http://evil.test", "x-method": "POST" }, "GET")).toBe(403);
  expect(await form({ origin: "http://evil.test", "x-method": "GET" })).toBe(403);
});

it("a limit of the listener counts every request, whatever its route", async () => {
  const statuses = [
    (await ask("limited", "/nowhere")).status,
    (await ask("limited", "/a")).status,
    (await ask("limited", "/a")).status,
  ];
  expect(statuses).toEqual([404, 200, 429]);
});

it("a listener can answer everything by itself", async () => {
  expect(await ask("closed", "/a")).toMatchObject({ status: 503, body: "closed today" });
});
