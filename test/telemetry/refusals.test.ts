import { exportJWK, generateKeyPair, type JWK } from "jose";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { startScripted } from "../harness/scripted.ts";
import { now, publicPart, sign } from "../harness/token.ts";

const ISSUER = "https://issuer.example";

/** The password of anna differs from the one that is sent. */
const PASSWORDS = "anna:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n";

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
}

/** Returns the `error` of each access line, in order. */
async function errorsOf(gateway: Gateway, count: number): Promise<readonly unknown[]> {
  const lines = await eventually(() => {
    const found = gateway.output.match(/^\{.*"scope":"request".*$/gm) ?? [];
    return found.length >= count ? found : null;
  }, `${count} lines`);
  return lines.map((line) => JSON.parse(line).error);
}

it("the log says why a credential was refused, without showing it", async () => {
  const key = await newKey();
  const gateway = await startGateway({
    file: { config: { logging: { format: "json" } } },
    listeners: [
      {
        routes: [
          {
            policies: {
              jwtAuth: {
                issuer: ISSUER,
                audiences: ["tools", "shop"],
                jwks: { inline: JSON.stringify({ keys: [publicPart(key)] }) },
              },
              directResponse: { status: 200 },
            },
          },
          {
            matches: [{ path: { exact: "/key" } }],
            policies: {
              apiKey: { keys: [{ keyHash: `sha256:${"0".repeat(64)}` }] },
              directResponse: { status: 200 },
            },
          },
          {
            matches: [{ path: { exact: "/login" } }],
            policies: {
              basicAuth: { htpasswd: PASSWORDS },
              directResponse: { status: 200 },
            },
          },
        ],
      },
    ],
  });
  const good = { iss: ISSUER, aud: "tools", exp: now() + 600 };
  const tokens = [
    await sign(key, { ...good, aud: "other" }),
    await sign(key, { ...good, exp: now() - 1000 }),
    await sign(key, { ...good, iss: "https://evil.example" }),
    await sign({ ...key, kid: "2" }, good),
    await sign({ ...(await newKey()), kid: "1" }, good),
    await sign(key, { iss: ISSUER, aud: "tools" }),
    "no-token",
  ];
  for (const token of tokens) {
    const response = await fetch(gateway.url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe("authentication failure: the token is not valid");
  }
  const others = [
    ["/", undefined],
    ["/key", undefined],
    ["/key", "Bearer a-guess"],
    ["/login", undefined],
    ["/login", `Basic ${btoa("anna:a-guess")}`],
  ] as const;
  for (const [path, authorization] of others) {
    const headers = authorization === undefined ? {} : { authorization };
    expect((await fetch(`${gateway.url}${path}`, { headers })).status).toBe(401);
  }
  expect(await errorsOf(gateway, tokens.length + others.length)).toEqual([
    'aud "other", expected "tools", "shop"',
    expect.stringMatching(/^expired 1\d{3} s ago$/),
    `iss "https://evil.example", expected "${ISSUER}"`,
    `"${ISSUER}" has no key "2" for ES256`,
    `its signature matches no key of "${ISSUER}"`,
    'the claim "exp" is missing',
    "not a signed JWT with an issuer",
    ...["no token in authorization", "no API key in authorization", "an unknown API key"],
    ...["no valid login in authorization", "wrong user or password"],
  ]);
  expect(gateway.output).not.toContain("a-guess");
  for (const token of tokens.slice(0, -1)) expect(gateway.output).not.toContain(token);
});

it("only the log distinguishes an MCP tool that rules deny from an unknown one", async () => {
  const server = await startMcpServer();
  const targets = ["one", "two"].map((name) => ({ name, mcp: { host: server.url } }));
  const gateway = await startGateway({
    file: { config: { logging: { format: "json" } } },
    listeners: [
      {
        routes: [
          {
            policies: { mcpAuthorization: { rules: ['mcp.tool.name == "hello"'] } },
            backends: [{ mcp: { targets } }],
          },
        ],
      },
    ],
  });
  const call = async (name: string) => (await callTool(gateway, name)).text();
  expect(await call("one_drop")).toContain("Unknown tool: one_drop");
  expect(await call("three_drop")).toContain("Unknown tool: three_drop");
  const lines = await eventually(() => {
    const found = gateway.output.match(/^\{.*"scope":"request".*$/gm) ?? [];
    return found.length >= 2 ? found : null;
  }, "two lines");
  expect(lines.map((line) => JSON.parse(line)).map(({ reason, rule }) => [reason, rule])).toEqual([
    [
      "Authorization",
      `gateway.yaml binds[${gateway.port}].listeners[*].routes[/].policies.mcpAuthorization: no rule allows it`,
    ],
    ["MCP", undefined],
  ]);
  const metrics = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  expect((await metrics.text()).match(/^gwc_mcp_messages_total.*$/gm)).toEqual([
    'gwc_mcp_messages_total{route="root",method="tools/call",target="one",item="drop",outcome="denied"} 1',
    'gwc_mcp_messages_total{route="root",method="tools/call",target="",item="",outcome="unknown"} 1',
  ]);
});

it("a message that fails at its target is counted as failed, though its response passes unread", async () => {
  const failed = { code: -32603, message: "no" };
  const responses: Readonly<Record<string, object>> = {
    good: { result: { content: [{ type: "text", text: '"error" and "isError":true' }] } },
    refused: { error: failed },
    broken: { result: { content: [], isError: true } },
    streamed: { error: failed },
  };
  const server = await startScripted((response, _, { body }) => {
    const { name } = JSON.parse(body.toString()).params;
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, ...responses[name] });
    const isStream = name === "streamed";
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? `event: message\ndata: ${text}\n\n` : text);
  });
  const target = { name: "one", mcp: { host: `http://${server.host}/mcp` } };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ mcp: { targets: [target] } }] }] }],
  });
  for (const name of Object.keys(responses)) {
    const response = await callTool(gateway, name);
    expect(response.status).toBe(200);
    await response.text();
  }
  const outcomes = await eventually(async () => {
    const metrics = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
    const found = (await metrics.text()).match(/item="\w+",outcome="\w+"/g) ?? [];
    return found.length >= Object.keys(responses).length ? found : null;
  }, "four counts");
  expect(outcomes.toSorted()).toEqual([
    'item="broken",outcome="failed"',
    'item="good",outcome="allowed"',
    'item="refused",outcome="failed"',
    'item="streamed",outcome="failed"',
  ]);
});

it("only the log says which rule or limit refused a request", async () => {
  const route = (name: string, policies: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { ...policies, directResponse: { status: 200, body: "ok" } },
  });
  const gateway = await startGateway({
    file: { config: { logging: { format: "json" } } },
    listeners: [
      {
        routes: [
          route("rules", {
            authorization: {
              rules: [
                'request.method == "GET"',
                { deny: 'request.headers["x-key"] == "a-secret"' },
                { require: 'request.headers["x-team"] == "blue"' },
              ],
            },
          }),
          route("limit", {
            localRateLimit: [{ maxTokens: 1, tokensPerFill: 1, fillInterval: "1h" }],
          }),
        ],
      },
    ],
  });
  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
    (await fetch(`${gateway.url}${path}`, { headers, method })).text();
  const bodies = [
    await ask("/rules", { "x-key": "a-secret" }),
    await ask("/rules", { "x-key": "another" }),
    await ask("/rules", { "x-key": "another", "x-team": "blue" }, "POST"),
    await ask("/limit"),
    await ask("/limit"),
  ];
  expect(new Set(bodies)).toEqual(new Set(["authorization failed", "ok", "rate limit exceeded"]));
  const lines = await eventually(() => {
    const found = gateway.output.match(/^\{.*"scope":"request".*$/gm) ?? [];
    return found.length >= bodies.length ? found : null;
  }, "the lines");
  const at = "gateway.yaml routes";
  expect(lines.map((line) => JSON.parse(line)).map(({ rule, limit }) => rule ?? limit)).toEqual([
    `${at}[rules].policies.authorization: rules[1].deny`,
    `${at}[rules].policies.authorization: rules[2].require`,
    `${at}[rules].policies.authorization: no rule allows it`,
    undefined,
    `${at}[limit].policies.localRateLimit[0]`,
  ]);
  expect(gateway.output).not.toContain("a-secret");
});

/** Calls a tool at the gateway's root, without a session. */
function callTool({ url }: Gateway, name: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }),
  });
}
