import { connect } from "node:http2";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { openSession, post, toolCall } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";

let gateway: Gateway;

const rulesByPath: Readonly<Record<string, readonly object[]>> = {
  deny: [{ deny: 'has(request.headers.d) && request.headers["d"] == "1"' }],
  "deny-default": [{ deny: 'default(request.headers["d"], "") == "1"' }],
  "deny-prefix": [{ deny: 'default(request.headers["x-forwarded-for"], "").startsWith("6.")' }],
  "deny-two": [
    { deny: 'default(request.headers.a, "") == "1" && default(request.headers.b, "") == "2"' },
  ],
  "deny-computed": [
    { deny: 'default(request.headers[default(request.headers.n, "none")], "") == "1"' },
  ],
  "deny-exists": [{ deny: 'request.headers.exists(n, n == "d" && request.headers[n] == "1")' }],
  "deny-entry": [{ deny: 'request.headers.exists(n, v, n == "d" && v == "1")' }],
  allow: [{ allow: 'request.headers["d"] == "1"' }],
  "allow-either": [{ allow: 'request.headers["d"] in ["1", "2", "1, 2"]' }],
  require: [{ require: 'request.headers["d"].startsWith("1")' }],
  query: [{ deny: 'default(request.uri.query("role"), "") == "admin"' }],
  "path-and-query": [{ deny: 'default(request.pathAndQuery.query("role"), "") == "admin"' }],
  "query-computed": [
    { deny: 'default(request.uri.query(default(request.headers.n, "none")), "") == "admin"' },
  ],
  "query-two": [
    {
      deny: 'default(request.uri.query("a"), "") == "1" && default(request.uri.query("b"), "") == "2"',
    },
  ],
  body: [{ deny: 'json(request.body).model == "bad"' }],
  cookie: [{ deny: 'default(request.headers.cookie.cookie("role"), "") == "admin"' }],
  "allow-cookie": [{ allow: 'request.headers.cookie.cookie("role") == "user"' }],
};

const keys = [{ key: "${KEY}" }];

/** Policies that read a header themselves. */
const credentials: Readonly<Record<string, object>> = {
  key: { apiKey: { keys } },
  "key-optional": { apiKey: { keys, mode: "optional" } },
  csrf: { csrf: { additionalOrigins: ["https://good.test"] } },
};

const conditional = [{ condition: 'request.headers["d"] == "1"', status: 418 }];

beforeAll(async () => {
  const host = (await startEcho()).url.slice("http://".length);
  const backends = [{ host }];
  const byRules = Object.entries(rulesByPath).map(([name, rules]) => ({
    name,
    matches: [{ path: { exact: `/${name}` } }],
    policies: { authorization: { rules } },
    backends,
  }));
  const { deny: rules } = rulesByPath;
  const server = await startUpstream(
    mcpResponses({
      "tools/list": '{"tools":[{"name":"echo","inputSchema":{}}]}',
      "tools/call": '{"content":[]}',
    }),
  );
  const mcp = { targets: [{ name: "one", mcp: { host: server.url } }] };
  gateway = await startGateway({
    env: { KEY: "k1" },
    listeners: [
      {
        hostname: "listener.test",
        policies: { authorization: { rules } },
        routes: [{ backends }],
      },
      {
        routes: [
          ...byRules,
          {
            name: "backend",
            matches: [{ path: { exact: "/backend" } }],
            backends: [{ host, policies: { authorization: { rules } } }],
          },
          {
            name: "conditional",
            matches: [{ path: { exact: "/conditional" } }],
            policies: { directResponse: { conditional } },
            backends,
          },
          {
            name: "beta",
            matches: [
              { path: { exact: "/match" }, headers: [{ name: "d", value: { exact: "1" } }] },
              { path: { exact: "/match" }, query: [{ name: "d", value: { exact: "1" } }] },
              {
                path: { exact: "/match" },
                headers: [{ name: "accept", value: { regex: ".*json.*" } }],
              },
            ],
            policies: { directResponse: { status: 204 } },
          },
          ...Object.entries(credentials).map(([name, policies]) => ({
            name,
            matches: [{ path: { exact: `/${name}` } }],
            policies,
            backends,
          })),
          {
            name: "tools",
            matches: [{ path: { exact: "/tools" } }],
            policies: {
              mcpAuthorization: {
                rules: [{ deny: 'default(request.headers.d, "") == "1"' }, "has(mcp.tool)"],
              },
            },
            backends: [{ mcp }],
          },
          { name: "match", matches: [{ path: { exact: "/match" } }], backends },
        ],
      },
    ],
  });
});

type Line = readonly [name: string, value: string];

/** Returns the status of a request with these lines. */
async function statusOf(target: string, lines: readonly Line[], host = "a.test"): Promise<number> {
  const client = new RawClient(gateway.port);
  const fields = [["host", host], ["connection", "close"], ...lines];
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  client.send(`GET ${target} HTTP/1.1\r\n${head}\r\n`);
  await client.closes();
  return Number(client.received.split(" ", 2)[1]);
}

/** Does the same over HTTP/2. */
async function statusOverHttp2(target: string, lines: readonly Line[]): Promise<number> {
  // Not among Node's types yet: repeated headers of a client.
  const lenient = { strictSingleValueFields: false };
  const session = connect(gateway.url, { ...lenient, settings: {} });
  onTestFinished(() => session.destroy());
  const headers = [":path", target, ":method", "GET", ":authority", "a.test", ...lines.flat()];
  const stream = session.request(headers);
  stream.resume();
  const status = await new Promise<number>((resolve, reject) => {
    stream.on("response", (head) => resolve(Number(head[":status"])));
    stream.on("error", reject);
  });
  session.close();
  return status;
}

/** A target, header lines, and the status of the request in either order. */
type Case = readonly [target: string, lines: readonly Line[], status: number];

const both = (name: string, first: string, second: string): readonly Line[] => [
  [name, first],
  [name, second],
];

const cases: Readonly<Record<string, Case>> = {
  "a deny rule holds for one line of two": ["/deny", both("d", "1", "2"), 403],
  "a deny rule lets lines pass that it does not match": ["/deny", both("d", "3", "2"), 200],
  "a deny rule with a default holds for one line": ["/deny-default", both("d", "1", "2"), 403],
  "an empty line hides no other": ["/deny-default", both("d", "1", ""), 403],
  "a deny rule reads each line of a list": [
    "/deny-prefix",
    both("x-forwarded-for", "6.6.6.6", "1.1.1.1"),
    403,
  ],
  "a deny rule reads lines of two headers together": [
    "/deny-two",
    [...both("a", "1", "3"), ...both("b", "2", "3")],
    403,
  ],
  "lines of two headers pass when none fit together": [
    "/deny-two",
    [...both("a", "1", "3"), ...both("b", "4", "3")],
    200,
  ],
  "a header of a computed name has lines, too": [
    "/deny-computed",
    [["n", "d"], ...both("d", "1", "2")],
    403,
  ],
  "names of a header that differ in case are one header": [
    "/deny",
    [
      ["D", "1"],
      ["d", "2"],
    ],
    403,
  ],
  "a search over the names reads each line": ["/deny-exists", both("d", "1", "2"), 403],
  "a search over the headers reads each line": ["/deny-entry", both("d", "1", "2"), 403],
  "an allow rule must allow each line": ["/allow", both("d", "1", "2"), 403],
  "an allow rule must allow the lines joined": ["/allow", both("d", "1", "1"), 403],
  "a require rule must be met by each line": ["/require", both("d", "1a", "2"), 403],
  "a require rule that each line meets is met": ["/require", both("d", "1a", "1b"), 200],
  "rules of a backend read each line": ["/backend", both("d", "1", "2"), 403],
  "rules of a backend let other lines pass": ["/backend", both("d", "3", "2"), 200],
  "a condition of a policy must agree on all lines": ["/conditional", both("d", "1", "2"), 400],
  "a condition of a policy may agree on all lines": ["/conditional", both("d", "3", "2"), 200],
  "a match refuses a repeated header": ["/match", both("d", "1", "2"), 400],
  "a match reads the lines of a list as one": ["/match", both("accept", "a/b", "c/json"), 204],
  "a match refuses a parameter with two values": ["/match?d=1&d=2", [], 400],
  "a match refuses an encoded parameter with two values": ["/match?d=2&%64=1", [], 400],
  "a match takes a parameter that is given twice alike": ["/match?d=1&d=1", [], 204],
  "a deny rule reads the first value of a parameter": ["/query?role=admin&role=user", [], 403],
  "a deny rule reads the last value of a parameter": ["/query?role=user&role=admin", [], 403],
  "a deny rule reads a value in the middle": ["/query?role=a&role=admin&role=b", [], 403],
  "a deny rule reads a parameter whose name is encoded": ["/query?role=a&r%6fle=admin", [], 403],
  "values of a parameter that no rule matches pass": ["/query?role=a&role=b", [], 200],
  "other parameters may have many values": [
    `/query?${"x=1&x=2&y=1&y=2&z=1&z=2&".repeat(40)}role=a`,
    [],
    200,
  ],
  "a rule over path and query reads the last value": [
    "/path-and-query?role=user&role=admin",
    [],
    403,
  ],
  "a parameter of a computed name has values, too": [
    "/query-computed?role=user&role=admin",
    [["n", "role"]],
    403,
  ],
  "values of two parameters are read together": ["/query-two?a=0&a=1&b=2&b=0", [], 403],
  "values of two parameters pass when none fit together": ["/query-two?a=0&a=1&b=3&b=0", [], 200],
  "two keys in a header are no valid key": [
    "/key",
    both("authorization", "Bearer k1", "Bearer k2"),
    401,
  ],
  "a key that is sent twice is no valid key": [
    "/key-optional",
    both("authorization", "Bearer k1", "Bearer k1"),
    401,
  ],
  "a deny rule reads both cookies of a name": [
    "/cookie",
    [["cookie", "role=user; role=admin"]],
    403,
  ],
  "a deny rule reads cookies of two lines": [
    "/cookie",
    both("cookie", "a=1; role=user", "role=admin"),
    403,
  ],
  "cookies of two lines are one list": ["/allow-cookie", both("cookie", "a=1", "role=user"), 403],
  "an allow rule must allow both cookies": [
    "/allow-cookie",
    [["cookie", "role=user; role=admin"]],
    403,
  ],
};

describe.each(Object.entries(cases))("%s", (_name, [target, lines, status]) => {
  it("over HTTP/1.1", async () => {
    expect(await statusOf(target, lines)).toBe(status);
    expect(await statusOf(target, lines.toReversed())).toBe(status);
  });

  // Several cookie fields are one header there (RFC 9113 8.2.3).
  if (lines.filter(([name]) => name === "cookie").length > 1) return;
  it("over HTTP/2", async () => {
    expect(await statusOverHttp2(target, lines)).toBe(status);
    expect(await statusOverHttp2(target, lines.toReversed())).toBe(status);
  });
});

it("repeated cookie fields over HTTP/2 are one header", async () => {
  const lines = both("cookie", "a=1", "role=user");
  expect(await statusOverHttp2("/allow-cookie", lines)).toBe(200);
  expect(await statusOverHttp2("/cookie", both("cookie", "role=user", "role=admin"))).toBe(403);
});

it.each([
  ['{"model":"ok"}', 200],
  ['{"model":"ok","Model":"bad"}', 403],
  ['{"Model":"bad","model":"ok"}', 403],
  ['{"model":"ok","mod\\u0045l":"bad"}', 403],
])("a rule over JSON reads no member that occurs in two cases: %s", async (body, status) => {
  const client = new RawClient(gateway.port);
  const head = `host: a.test\r\nconnection: close\r\ncontent-length: ${body.length}`;
  client.send(`POST /body HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  await client.closes();
  expect(Number(client.received.split(" ", 2)[1])).toBe(status);
});

it("a page is identified by one Origin", async () => {
  const client = new RawClient(gateway.port);
  const lines = "origin: https://good.test\r\norigin: https://evil.test\r\n";
  client.send(`POST /csrf HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n${lines}\r\n`);
  await client.closes();
  expect(client.received).toMatch(/^HTTP\/1\.1 403/);
});

it("rules of MCP items read each line, in lists and calls", async () => {
  const url = `${gateway.url}/tools`;
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const [d, isShown] of [
    [["2", "3"], true],
    [["1", "2"], false],
    [["2", "1"], false],
  ] as const) {
    const session = await openSession(url);
    const listed = await post(url, list, { ...session, d });
    expect(listed.text.includes("echo"), `${d}`).toBe(isShown);
    const called = await post(url, toolCall("echo"), { ...session, d });
    expect(called.text.includes("Unknown tool"), `${d}`).toBe(!isShown);
  }
});

it("rules of a listener read each line", async () => {
  expect(await statusOf("/", both("d", "2", "1"), "listener.test")).toBe(403);
  expect(await statusOf("/", both("d", "2", "3"), "listener.test")).toBe(200);
});

it("a request with too many readings is refused", async () => {
  const lines = ["a", "b"].flatMap((name) =>
    Array.from({ length: 40 }, (_, i): Line => [name, `${i + 10}`]),
  );
  expect(await statusOf("/deny-two", lines)).toBe(200);
  // Of 41 times 41 readings, none within the limit decides.
  const other = lines.map(([name, value]): Line => [name, name === "a" ? "1" : value]);
  expect(await statusOf("/deny-two", other)).toBe(403);
});
