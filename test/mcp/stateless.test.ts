import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, post, send } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask, connectStateless, envelope, request, revision } from "./stateless-client.ts";
import { as } from "./subjects.ts";

const rules = [
  'mcp.tool.name == "test_simple_text"',
  'jwt.sub == "ada" && mcp.tool.name == "test_image_content"',
  'mcp.tool.name == "größe"',
  'mcp.prompt.name == "test_simple_prompt"',
  'mcp.resource.name == "test://static-text"',
];

let gateway: Gateway;
let raw: RawUpstream;
const url = (route: string) => gateway.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const script = ownScript("conformance/stateless-server.ts");
  const server = new TestProcess(process.execPath, [script, "http"]);
  const [, port] = await server.seen(/port (\d+)/);
  raw = await startUpstream(() => {});
  const real = [{ name: "one", mcp: { host: `http://127.0.0.1:${port}/mcp` } }];
  const scripted = [{ name: "one", era: "stateless" as const, mcp: { host: raw.url } }];
  gateway = await startMcpGateway([
    { name: "open", path: "/open", targets: real },
    { name: "ruled", path: "/ruled", targets: real, rules, hasSubjects: true },
    { name: "raw", path: "/raw", targets: scripted },
    { name: "rawruled", path: "/rawruled", targets: scripted, rules, hasSubjects: true },
  ]);
});

beforeEach(() => {
  raw.seen.length = 0;
});

/** Answers every request with this result, as JSON text. */
function respondWith(result: string): void {
  raw.response = (response, _, { id }) =>
    void response
      .writeHead(200, { "content-type": "application/json" })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
}

describe("a client of the stateless revision", () => {
  it("can use an open route without a session", async () => {
    const client = await connectStateless(url("open"));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("test_image_content");
    const result = await client.callTool({ name: "test_simple_text" });
    expect(JSON.stringify(result)).toContain("simple text response");
    await client.close();
  });

  it("sees only the tools that it can call, with its own credentials", async () => {
    for (const [subject, own] of [
      ["ada", ["test_simple_text", "test_image_content"]],
      ["bob", ["test_simple_text"]],
    ] as const) {
      const client = await connectStateless(url("ruled"), {}, as(subject));
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(own);
      for (const name of ["test_simple_text", "test_image_content", "test_audio_content"]) {
        const call = client.callTool({ name });
        if (own.some((each) => each === name)) await expect(call).resolves.toBeDefined();
        else await expect(call).rejects.toThrow(`Unknown tool: ${name}`);
      }
      await client.close();
    }
  });

  it("is asked for input and continues with it", async () => {
    const client = await connectStateless(url("open"), { capabilities: { elicitation: {} } });
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: { name: "Ada" },
    }));
    const result = await client.callTool({ name: "test_input_required_result_elicitation" });
    expect(JSON.stringify(result)).toContain("Hello, Ada!");
    await client.close();
  });

  it("has no GET streams and no sessions to end", async () => {
    for (const method of ["GET", "DELETE"]) {
      const headers = { "mcp-protocol-version": revision, accept: "text/event-stream" };
      const response = await send(url("open"), { method, headers });
      expect([response.status, response.headers.allow]).toEqual([405, "POST"]);
    }
  });

  it("gets an error for an unknown revision", async () => {
    const response = await ask(
      url("ruled"),
      "tools/list",
      {},
      { "mcp-protocol-version": "2027-01-01" },
    );
    expect([response.status, JSON.parse(response.text).error]).toMatchObject([
      400,
      { code: -32022, data: { supported: [revision], requested: "2027-01-01" } },
    ]);
  });
});

describe("passing through", () => {
  it("an open route changes no byte of either body", async () => {
    const response = `{ "jsonrpc":"2.0","id" :1e0,"result":{"x":12345678901234567890,"resultType":"complete"}}`;
    raw.response = (out) =>
      void out
        .writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" })
        .end(response);
    const body = `{"id":1e0,  "jsonrpc":"2.0","method":"tools/call","params":{"name":"\\u0061","x":1.0}}`;
    const headers = {
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": "a",
      "mcp-param-region": "eu",
      "mcp-session-id": "somebody's",
      "last-event-id": "7",
    };
    const got = await post(url("raw"), body, headers);
    expect(got.text).toBe(response);
    expect(got.headers["mcp-session-id"]).toBeUndefined();
    const [seen] = raw.seen;
    expect(seen?.text).toBe(body);
    expect(seen?.headers).toMatchObject({
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": "a",
      "mcp-param-region": "eu",
    });
    expect(seen?.headers).not.toHaveProperty("mcp-session-id");
    expect(seen?.headers).not.toHaveProperty("last-event-id");
  });

  it.each(["raw", "rawruled"])(
    "%s: headers are forwarded alike, in whatever form they arrived",
    async (route) => {
      raw.response = (response, _, { id }) =>
        void response
          .writeHead(200, {
            "content-type": "application/json",
            "set-cookie": "a=b",
            "access-control-allow-origin": "*",
            etag: '"1"',
          })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
      const sent = {
        "X-Tenant": "t1",
        cookie: "c=d",
        "accept-encoding": "gzip",
        "sec-fetch-mode": "cors",
        "mcp-session-id": "somebody's",
        ...as("ada"),
      };
      const seen = [];
      for (const accept of ["application/json, text/event-stream", "*/*"]) {
        const name = "test_simple_text";
        const got = await ask(url(route), "tools/call", { name }, { ...sent, accept });
        const { "content-type": type, "set-cookie": cookie, etag } = got.headers;
        seen.push({ request: raw.seen.at(-1)?.headers, type, cookie, etag });
        expect(got.headers).not.toHaveProperty("access-control-allow-origin");
      }
      expect(seen[1]).toEqual(seen[0]);
      const isOpen = route === "raw";
      expect(seen[0]).toMatchObject({
        ...{ type: "application/json", etag: '"1"', cookie: isOpen ? ["a=b"] : undefined },
        request: { "x-tenant": "t1", accept: "application/json, text/event-stream" },
      });
      const passed = Object.keys(seen[0]?.request ?? {});
      for (const name of ["cookie", "accept-encoding"]) expect(passed.includes(name)).toBe(isOpen);
      expect(passed).not.toContain("sec-fetch-mode");
      expect(passed).not.toContain("mcp-session-id");
    },
  );

  it.each([
    [401, 'Bearer resource_metadata="https://x.test/m", scope="a"'],
    [403, 'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x.test/m"'],
  ])("a target's %i is forwarded with its challenge", async (status, challenge) => {
    raw.response = (response) =>
      void response.writeHead(status, { "www-authenticate": challenge }).end("{}");
    for (const route of ["raw", "rawruled"]) {
      const response = await ask(url(route), "tools/list");
      expect([response.status, response.headers["www-authenticate"]]).toEqual([status, challenge]);
    }
  });

  it("a filtered list keeps its lifetime and is private", async () => {
    const tools = `[{"name":"test_simple_text"},{"name":"secret"}]`;
    respondWith(`{"resultType":"complete","tools":${tools},"ttlMs":5000,"cacheScope":"public"}`);
    const listed = await ask(url("rawruled"), "tools/list");
    expect(JSON.parse(listed.text).result).toEqual({
      resultType: "complete",
      tools: [{ name: "test_simple_text" }],
      ttlMs: 5000,
      cacheScope: "private",
    });
  });

  it("a refusal of a list keeps only its status and code", async () => {
    const error = { code: -32021, message: "secret", data: { requiredCapabilities: {} } };
    raw.response = (response) =>
      void response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
    const listed = await ask(url("rawruled"), "tools/list");
    expect([listed.status, JSON.parse(listed.text).error.code]).toEqual([400, -32021]);
    expect(listed.text).not.toContain("secret");
  });

  it("a subscription contains only the resources that the rules allow", async () => {
    respondWith(`{"resultType":"complete"}`);
    const notifications = {
      toolsListChanged: true,
      resourceSubscriptions: ["test://static-text", "test://hidden"],
    };
    await ask(url("rawruled"), "subscriptions/listen", { notifications });
    expect(JSON.parse(raw.seen[0]?.text ?? "").params.notifications).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["test://static-text"],
    });
  });
});

describe("where rules read names, header and body have to agree", () => {
  const call = (name: string, headers: Parameters<typeof ask>[3] = {}) =>
    ask(url("rawruled"), "tools/call", { name }, headers);
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

  beforeEach(() => respondWith(`{"resultType":"complete","content":[]}`));

  it("a name that is not ASCII is sent in base64", async () => {
    expect((await call("größe", { "mcp-name": base64("größe") })).status).toBe(200);
    expect(raw.seen[0]?.headers["mcp-name"]).toBe(base64("größe"));
  });

  it.each([
    ["another name", { "mcp-name": "secret" }],
    ["no name", { "mcp-name": null }],
    ["an empty name", { "mcp-name": base64("") }],
    ["two names", { "mcp-name": ["test_simple_text", "secret"] }],
    ["two equal names", { "mcp-name": ["test_simple_text", "test_simple_text"] }],
    ["another case", { "mcp-name": "Test_Simple_Text" }],
    [
      "base64 that is written in another way",
      { "mcp-name": "=?base64?dGVzdF9zaW1wbGVfdGV4dB==?=" },
    ],
    ["upper-case base64", { "mcp-name": base64("test_simple_text").replace("base64", "BASE64") }],
    [
      "bytes that are no text",
      { "mcp-name": `=?base64?${Buffer.from([0xff]).toString("base64")}?=` },
    ],
    ["line ends", { "mcp-name": base64("test_simple_text\r\nx: y") }],
    ["another method", { "mcp-method": "tools/list" }],
    ["no method", { "mcp-method": null }],
    ["two methods", { "mcp-method": ["tools/call", "tools/call"] }],
    ["two versions", { "mcp-protocol-version": [revision, "2025-11-25"] }],
  ])("a header with %s is refused", async (_, headers) => {
    const response = await call("test_simple_text", headers);
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      400,
      { id: 1, error: { code: -32020 } },
    ]);
    expect(raw.seen).toEqual([]);
  });

  it("an ASCII name may be sent in base64, as the target reads it", async () => {
    expect(
      (await call("test_simple_text", { "mcp-name": base64("test_simple_text") })).status,
    ).toBe(200);
  });

  it.each([
    ["a name twice", `{"name":"secret","name":"test_simple_text"}`],
    ["a name in another case", `{"Name":"secret","name":"test_simple_text"}`],
  ])("a body with %s is refused", async (_, params) => {
    const meta = JSON.stringify(envelope);
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params.replace("{", `{"_meta":${meta},`)}}`;
    const headers = {
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": "test_simple_text",
    };
    expect((await post(url("rawruled"), body, headers)).status).toBe(400);
    expect(raw.seen).toEqual([]);
  });

  it.each([
    ["no version", { "io.modelcontextprotocol/protocolVersion": undefined }, -32602],
    ["no capabilities", { "io.modelcontextprotocol/clientCapabilities": undefined }, -32602],
    ["another version", { "io.modelcontextprotocol/protocolVersion": "2025-11-25" }, -32020],
  ])("_meta with %s is refused", async (_, changed, code) => {
    const params = { name: "test_simple_text", _meta: { ...envelope, ...changed } };
    const response = await ask(url("rawruled"), "tools/call", params);
    expect([response.status, JSON.parse(response.text).error.code]).toEqual([400, code]);
  });

  it.each([
    ["3 MB", `"${"x".repeat(3_000_000)}"`, 413],
    ["a list in lists, 100,000 deep", "[".repeat(100_000) + "]".repeat(100_000), 200],
  ])("_meta with %s is read leniently", async (_, value, status) => {
    const text = JSON.stringify(request("tools/call", { name: "test_simple_text" }));
    const body = text.replace('"_meta":{', `"_meta":{"com.example/big":${value},`);
    const response = await post(url("rawruled"), body, {
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": "test_simple_text",
    });
    expect(response.status).toBe(status);
    expect(raw.seen.map(({ text }) => text)).toEqual(status === 200 ? [body] : []);
    if (status !== 200) {
      const error = {
        code: -32000,
        message: "request body larger than 2097152 bytes (maxBufferSize)",
      };
      expect(JSON.parse(response.text)).toEqual({ jsonrpc: "2.0", id: null, error });
    }
  });

  it("a method that the revision has removed is unknown", async () => {
    const response = await ask(url("rawruled"), "logging/setLevel", { level: 7 });
    expect([response.status, JSON.parse(response.text).error.code]).toEqual([404, -32601]);
  });

  it("a request of the new era without its header belongs to no era", async () => {
    for (const version of [null, "2025-11-25"]) {
      const response = await post(url("rawruled"), request("tools/list"), {
        "mcp-protocol-version": version,
      });
      expect([response.status, messagesOf(response)]).toMatchObject([
        400,
        [{ error: { code: -32020 } }],
      ]);
    }
  });

  it("headers with names from a client with sessions are dropped", async () => {
    respondWith(`{"tools":[]}`);
    const old = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const response = await post(url("raw"), old, { "mcp-method": "x", "mcp-name": "y" });
    expect(response.status).toBe(200);
    expect(raw.seen[0]?.headers).not.toHaveProperty("mcp-name");
    expect(raw.seen[0]?.headers).not.toHaveProperty("mcp-method");
  });
});
