import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { everythingScript } from "../harness/everything-server.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, openSession, post, type RawResponse, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { as } from "./subjects.ts";

let upstream: RawUpstream;
let gateway: Gateway;

const rules = [
  'mcp.tool.name == "echo"',
  'jwt.sub == "alice" && mcp.tool.name == "get-sum"',
  'mcp.prompt.name == "simple-prompt"',
  'mcp.resource.name.endsWith("features.md")',
];
const templates = ['mcp.methodName == "resources/templates/list"'];
const tools = JSON.stringify(
  ["secret", "echo", "get-sum"].map((name) => ({ name, inputSchema: { type: "object" } })),
);
const results = {
  "tools/list": `{ "tools" : ${tools},"nextCursor":"n", "big":12345678901234567890}`,
  "tools/call": '{"content":[]}',
  "prompts/list": '{"prompts":[{"name":"simple-prompt"},{"name":"secret"}]}',
  "resources/list":
    '{"resources":[{"uri":"a:features.md","name":"a"},{"uri":"a:secret","name":"b"}]}',
  "resources/templates/list":
    '{"resourceTemplates":[{"uriTemplate":"a:{x}/features.md","name":"a"},{"uriTemplate":"a:{x}","name":"b"}]}',
};

beforeAll(async () => {
  upstream = await startUpstream(mcpResponses(results));
  const one = { name: "one", mcp: { host: upstream.url } };
  const everything = {
    name: "child",
    stdio: { cmd: process.execPath, args: [everythingScript()] },
  };
  gateway = await startMcpGateway([
    { name: "mcp", targets: [one], rules, hasSubjects: true },
    {
      name: "merged",
      path: "/merged",
      targets: [one, { ...one, name: "two" }],
      rules,
      hasSubjects: true,
    },
    {
      name: "second",
      path: "/second",
      targets: [one, { ...one, name: "two" }],
      rules: ['mcp.tool.target == "two"'],
    },
    { name: "stdio", path: "/stdio", targets: [everything], rules, hasSubjects: true },
    { name: "templates", path: "/templates", targets: [one], rules: templates },
    {
      name: "more-templates",
      path: "/more-templates",
      targets: [one, { ...one, name: "two" }],
      rules: templates,
    },
  ]);
});
beforeEach(() => {
  upstream.response = mcpResponses(results);
  upstream.seen.length = 0;
});

const at = (path: string) => gateway.url.replace("/mcp", path);
const list = (method: string) => ({ jsonrpc: "2.0", id: 1, method });
const alice = as("alice");

function namesIn(response: RawResponse): string[] {
  // Notifications may come first.
  const messages = messagesOf(response) as { result?: Record<string, Record<string, string>[]> }[];
  const message = messages.find(({ result }) => result !== undefined);
  const items = Object.values(message?.result ?? {}).find(Array.isArray) ?? [];
  return items.map((item) => item.uriTemplate ?? item.uri ?? item.name ?? "");
}

describe.each(["json", "sse"] as const)("a list that arrives as %s", (framing) => {
  beforeEach(() => {
    upstream.response = mcpResponses(results, framing);
  });

  const lists: [string, string[]][] = [
    ["tools/list", ["echo"]],
    ["prompts/list", ["simple-prompt"]],
    ["resources/list", ["a:features.md"]],
    ["resources/templates/list", ["a:{x}/features.md"]],
  ];
  it.each(lists)("%s lists what the rules allow", async (method, names) => {
    const session = await openSession(gateway.url);
    expect(namesIn(await post(gateway.url, list(method), session))).toEqual(names);
  });

  it("lists what a subject's claims allow and leaves the rest of the response unchanged", async () => {
    const session = await openSession(gateway.url, alice);
    const response = await post(gateway.url, list("tools/list"), session);
    expect(namesIn(response)).toEqual(["echo", "get-sum"]);
    expect(response.text).toContain('"nextCursor":"n", "big":12345678901234567890}');
  });
});

it("rules see how templates are listed, with one server and with several", async () => {
  for (const [path, count] of [
    ["/templates", 2],
    ["/more-templates", 4],
  ] as const) {
    const session = await openSession(at(path));
    const shown = await post(at(path), list("resources/templates/list"), session);
    expect(namesIn(shown)).toHaveLength(count);
    expect(namesIn(await post(at(path), list("resources/list"), session))).toEqual([]);
  }
});

describe("a hidden list entry stays hidden when", () => {
  const cases: [string, string][] = [
    ["its name is escaped", '{"tools":[{"n\\u0061me":"secret"},{"name":"\\u0065cho"}]}'],
    ["it has two names", '{"tools":[{"name":"echo","name":"secret"},{"name":"echo"}]}'],
    [
      "it has a second name in capitals",
      '{"tools":[{"name":"echo","Name":"secret"},{"name":"echo"}]}',
    ],
    ["it has no name", '{"tools":[{"title":"secret"},"secret",{"name":7},{"name":"echo"}]}'],
  ];
  it.each(cases)("%s", async (_, result) => {
    upstream.response = mcpResponses({ "tools/list": result });
    const response = await post(gateway.url, list("tools/list"));
    expect(response.text).not.toContain("secret");
    expect(namesIn(response)).toEqual(["echo"]);
  });

  it("the result has two lists", async () => {
    for (const second of ['"tools"', '"Tools"', '"t\\u006fols"']) {
      upstream.response = mcpResponses({
        "tools/list": `{"tools":[{"name":"echo"}],${second}:[{"name":"secret"}]}`,
      });
      const response = await post(gateway.url, list("tools/list"));
      expect(response.status).toBe(502);
      expect(response.text).not.toContain("secret");
    }
  });

  it.each([
    ["tools/list", "tools", "an object", '{"0":{"name":"secret"}}'],
    ["tools/list", "tools", "a list inside an object", '{"tools":[{"name":"secret"}]}'],
    ["tools/list", "tools", "a text", '"secret"'],
    ["prompts/list", "prompts", "an object", '{"0":{"name":"secret"}}'],
    ["resources/list", "resources", "an object", '{"0":{"uri":"a:secret"}}'],
    [
      "resources/templates/list",
      "resourceTemplates",
      "an object",
      '{"0":{"uriTemplate":"secret"}}',
    ],
  ])("the result of %s has as %s %s", async (method, field, _, value) => {
    for (const path of ["/mcp", "/merged"]) {
      upstream.response = mcpResponses(results);
      const session = await openSession(at(path));
      upstream.response = mcpResponses({ [method]: `{"${field}":${value}}` });
      const response = await post(at(path), list(method), session);
      expect(response.text).not.toContain("secret");
    }
  });

  it("the result is a list by itself", async () => {
    upstream.response = mcpResponses({ "tools/list": '[{"name":"secret"}]' });
    const response = await post(gateway.url, list("tools/list"));
    expect(response.text).not.toContain("secret");
  });

  it("the server compresses without being asked", async () => {
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end("secret");
    };
    const response = await post(gateway.url, list("tools/list"), { "accept-encoding": "gzip" });
    expect(upstream.seen[0]?.headers["accept-encoding"]).toBeUndefined();
    expect(response.status).toBe(502);
  });

  it("the list has no type, or is in an unexpected place", async () => {
    for (const status of [200, 202]) {
      upstream.response = (response) =>
        void response.writeHead(status).end(`{"result":${results["tools/list"]}}`);
      expect((await post(gateway.url, list("tools/list"))).text).not.toContain("secret");
    }
  });

  it("the list is of an unknown type", async () => {
    upstream.response = (response) => {
      response
        .writeHead(200, { "content-type": "text/plain" })
        .end(`{"result":${results["tools/list"]}}`);
    };
    expect((await post(gateway.url, list("tools/list"))).status).toBe(502);
  });

  it("the client resumes the stream with the list", async () => {
    upstream.response = (response) => {
      const message = `{"jsonrpc":"2.0","id":1,"result":${results["tools/list"]}}`;
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`id: 2\ndata: ${message}\n\n`);
    };
    const response = await send(gateway.url, { method: "GET", headers: { "last-event-id": "1" } });
    expect(response.text).toMatch(/^id: /);
    expect(response.text).not.toContain("secret");
    expect(namesIn(response)).toEqual(["echo"]);
  });

  it.each([404, 405, 500])("it has status %i", async (status) => {
    const body = `{"jsonrpc":"2.0","id":1,"result":${results["tools/list"]}}`;
    upstream.response = (response) => {
      response.writeHead(status, { "content-type": "application/json", "x-kept": "1" }).end(body);
    };
    const responses = [
      await post(gateway.url, list("tools/list")),
      await send(gateway.url, { method: "GET" }),
    ];
    for (const response of responses) {
      expect(response.status).toBe(status);
      expect(response.headers["x-kept"]).toBe("1");
      expect(response.text).not.toContain("secret");
    }
    expect(responses.map(({ text }) => JSON.parse(text).id)).toEqual([1, null]);
  });

  it.each(["/mcp", "/merged"])("an error contains the list (%s)", async (path) => {
    const session = await openSession(at(path));
    upstream.response = (response) => {
      const error = '{"code":-32602,"message":"have: secret","data":["secret"]}';
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(`{"jsonrpc":"2.0","id":1,"error":${error}}`);
    };
    const response = await post(at(path), list("tools/list"), session);
    expect(JSON.parse(response.text)).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(response.text).not.toContain("secret");
  });

  it("comments, names and ids of events contain it", async () => {
    const message = `{"jsonrpc":"2.0","id":1,"result":${results["tools/list"]}}`;
    const lines = [": secret", "", "id: secret", "data:", "", "event: secret", "id: secret-2"];
    upstream.response = (response) => {
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`${lines.join("\n")}\nretry: 5\ndata: ${message}\n\n`);
    };
    const { text } = await post(gateway.url, list("tools/list"));
    expect(text).not.toContain("secret");
    expect(text).toMatch(/^:\n\nid: \S+\ndata:\n\nid: \S+\nretry: 5\nevent: message\ndata: /);
    // The target gets its own ids back.
    const [, id = ""] = /id: (\S+)\nretry/.exec(text) ?? [];
    await send(gateway.url, { method: "GET", headers: { "last-event-id": id } });
    expect(upstream.seen.at(-1)?.headers["last-event-id"]).toBe("secret-2");
  });
});

describe("updates of a hidden resource are not forwarded", () => {
  const updated = (uri: string) =>
    `data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"${uri}"}}\n\n`;
  const events = `${updated("a:secret")}${updated("a:features.md")}`;

  it.each(["/mcp", "/merged"])("on the stream of its session (%s)", async (path) => {
    const session = await openSession(at(path));
    upstream.response = (response, { method }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (method === "GET") response.write(events);
    };
    const headers = { ...session, accept: "text/event-stream" };
    const read = await streamUntil(at(path), headers, "features.md");
    expect(read).not.toContain("secret");
  });

  it.each(["/mcp", "/merged"])("in the response to a call (%s)", async (path) => {
    const session = await openSession(at(path));
    upstream.response = (response, { text }) => {
      const id = /"id":("[^"]*"|\d+)/.exec(text)?.[1];
      const body = `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`${events}${body}`);
    };
    const name = path === "/mcp" ? "echo" : "one_echo";
    const { text } = await post(at(path), toolCall(name), session);
    expect(text).toContain("features.md");
    expect(text).toContain('"content":[]');
    expect(text).not.toContain("secret");
  });
});

/** Reads a GET stream until it contains a string. */
async function streamUntil(
  url: string,
  headers: Record<string, string>,
  wanted: string,
): Promise<string> {
  const { body } = await fetch(url, { headers });
  let read = "";
  for await (const chunk of body ?? []) {
    read += Buffer.from(chunk).toString();
    if (read.includes(wanted)) break;
  }
  return read;
}

describe("a hidden item is unknown", () => {
  const refused: [string, string, object][] = [
    ["tool", "secret", toolCall("secret")],
    ["tool", "nonexistent", toolCall("nonexistent")],
    ["prompt", "secret", { method: "prompts/get", params: { name: "secret" } }],
    ["resource", "a:secret", { method: "resources/read", params: { uri: "a:secret" } }],
    ["resource", "a:secret", { method: "resources/subscribe", params: { uri: "a:secret" } }],
    [
      "prompt",
      "secret",
      { method: "completion/complete", params: { ref: { type: "ref/prompt", name: "secret" } } },
    ],
    [
      "resource",
      "a:{x}",
      { method: "completion/complete", params: { ref: { type: "ref/resource", uri: "a:{x}" } } },
    ],
  ];
  it.each(refused)("%s %s", async (kind, name, request) => {
    const response = await post(gateway.url, { jsonrpc: "2.0", ...request, id: "q" });
    expect(response.status).toBe(200);
    const error = { code: -32602, message: `Unknown ${kind}: ${name}` };
    expect(JSON.parse(response.text)).toEqual({ jsonrpc: "2.0", id: "q", error });
    expect(upstream.seen.length).toBe(0);
  });

  const tricks: [string, string][] = [
    ["is named twice", '{"name":"echo","name":"secret"}'],
    ["is named in capitals too", '{"name":"echo","Name":"secret"}'],
    ["is named in capitals only", '{"Name":"secret"}'],
    ["is named with an escape too", '{"name":"echo","n\\u0061me":"secret"}'],
    ["is named by a list", '{"name":["secret"]}'],
    ["is not named", "{}"],
    ["is in params that are a list", '["secret"]'],
  ];
  it.each(tricks)("and refused with 400 when it %s", async (_, params) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    expect((await post(gateway.url, body)).status).toBe(400);
    expect(upstream.seen.length).toBe(0);
  });

  it("and a call without an id is refused, as a server might execute it", async () => {
    for (const name of ["secret", "echo"]) {
      const body = { jsonrpc: "2.0", method: "tools/call", params: { name } };
      expect((await post(gateway.url, body)).status).toBe(400);
    }
    expect(upstream.seen.length).toBe(0);
  });

  it("but an escaped name that is allowed is called as it was sent", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\u0065cho"}}';
    expect((await post(gateway.url, body)).status).toBe(200);
    expect(upstream.seen[0]?.text).toBe(body);
  });
});

describe.each(["/mcp", "/merged", "/second", "/stdio"])("on %s", (path) => {
  it("exactly the listed tools can be called, for every subject", async () => {
    for (const headers of [{}, alice, as("bob")]) {
      const session = await openSession(at(path), headers);
      const listed = namesIn(await post(at(path), list("tools/list"), session));
      for (const tool of ["secret", "echo", "get-sum", "get-env", "nonexistent"]) {
        for (const name of path === "/merged" || path === "/second"
          ? [`one_${tool}`, `two_${tool}`]
          : [tool]) {
          const response = await post(
            at(path),
            toolCall(name, 1, { a: 1, b: 2, message: "x" }),
            session,
          );
          const isRefused = response.text.includes(`Unknown tool: ${name}`);
          // An item that the server lacks is neither listed nor refused under a rule that allows all of its tools.
          const isReal = path === "/second" ? tool !== "get-env" && tool !== "nonexistent" : true;
          if (isReal) expect([name, !isRefused]).toEqual([name, listed.includes(name)]);
        }
      }
      await send(at(path), { method: "DELETE", headers: session });
    }
  });
});

it("rules see the name without the prefix, and the target", async () => {
  const session = await openSession(at("/second"));
  const names = namesIn(await post(at("/second"), list("tools/list"), session));
  expect(names).toEqual(["two_secret", "two_echo", "two_get-sum"]);
  const response = await post(at("/second"), toolCall("one_echo"), session);
  expect(response.text).toContain("Unknown tool: one_echo");
});
