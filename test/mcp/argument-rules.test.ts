import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

let upstream: RawUpstream;
let gateway: Gateway;

const named = (name: string) => ({ name, inputSchema: { type: "object" } });
const tools = ["read", "pay", "delete", "other", "record", "post"].map(named);

beforeAll(async () => {
  upstream = await startUpstream(
    mcpResponses({ "tools/list": JSON.stringify({ tools }), "tools/call": '{"content":[]}' }),
  );
  const one = { name: "one", mcp: { host: upstream.url } };
  const rules = [
    'mcp.tool.name == "read" && mcp.tool.arguments.path.startsWith("/public/")',
    'mcp.tool.name == "pay" && mcp.tool.arguments.amount <= 100',
    { deny: 'mcp.tool.name == "pay" && mcp.tool.arguments.currency != "EUR"' },
    'mcp.tool.name == "delete" && !(mcp.tool.arguments.force == true) && false',
    'mcp.tool.name == "record" && mcp.tool.arguments.id == 9007199254740992',
    { deny: 'mcp.tool.name == "post" && mcp.tool.arguments.id == 9007199254740993' },
    { deny: 'mcp.tool.name == "post" && mcp.tool.arguments.user == "root"' },
    'mcp.tool.name == "post"',
    'mcp.tool.name == "other" && has(mcp.tool.arguments.a) ? mcp.tool.arguments.a == 1 : false',
  ];
  gateway = await startMcpGateway([
    { name: "single", targets: [one], rules },
    { name: "merged", path: "/merged", targets: [one, { ...one, name: "two" }], rules },
  ]);
});

const url = (path: string) => gateway.url.replace("/mcp", path);

/** Returns whether a call reached the server. `args` is JSON text. */
async function isCalled(path: string, era: string, name: string, args: string): Promise<boolean> {
  upstream.seen.length = 0;
  const own = path === "/merged" ? `one_${name}` : name;
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${own}","arguments":${args}}}`;
  if (era === "sessions") await post(url(path), call, await openSession(url(path)));
  else await ask(url(path), "tools/call", { name: own, arguments: JSON.parse(args) });
  return upstream.seen.some(({ text }) => text.includes('"tools/call"'));
}

async function listed(path: string, era: string): Promise<readonly string[]> {
  const response =
    era === "stateless"
      ? await ask(url(path), "tools/list")
      : await post(
          url(path),
          { jsonrpc: "2.0", id: 1, method: "tools/list" },
          await openSession(url(path)),
        );
  const [message] = messagesOf(response) as { result: { tools: { name: string }[] } }[];
  return message?.result.tools.map(({ name }) => name) ?? [];
}

describe.each(["/mcp", "/merged"])("on %s", (path) => {
  describe.each(["sessions", "stateless"])("for clients of the era of %s", (era) => {
    it("a list shows tools that some arguments may call", async () => {
      const names = ["read", "pay", "other", "record", "post"];
      const expected = names.map((name) => (path === "/merged" ? `one_${name}` : name));
      const shown = await listed(path, era);
      expect(shown.filter((name) => !name.startsWith("two_"))).toEqual(expected);
    });

    it.each([
      ["read", { path: "/public/a" }, true],
      ["read", { path: "/private/a" }, false],
      ["read", {}, false],
      ["read", { path: 7 }, false],
      ["pay", { amount: 100, currency: "EUR" }, true],
      ["pay", { amount: 101, currency: "EUR" }, false],
      ["pay", { amount: "1", currency: "EUR" }, false],
      ["pay", { amount: 1, currency: "USD" }, false],
      ["pay", { amount: 1 }, false],
      ["delete", {}, false],
      ["other", { a: 1 }, true],
      ["other", { a: 2 }, false],
    ])("a call of %s with %j is judged", async (name, args, isAllowed) => {
      expect(await isCalled(path, era, name, JSON.stringify(args))).toBe(isAllowed);
    });
  });

  it.each([
    ["twice", '{"path":"/private/a","path":"/public/a"}'],
    ["twice, once escaped", '{"path":"/public/a","p\\u0061th":"/private/a"}'],
    ["in two cases", '{"path":"/public/a","PATH":"/private/a"}'],
    ["in the case of Unicode", '{"path":"/public/a","k":1,"\u212a":2}'],
    ["in the case of Go", '{"path":"/public/a","s":1,"\u017f":2}'],
    ["below a repeated key", '{"path":"/public/a","x":{"y":1,"y":2}}'],
  ])("a call with a key %s is refused", async (_, args) => {
    expect(await isCalled(path, "sessions", "read", args)).toBe(false);
  });

  it.each([
    ["record", '{"id":9007199254740992}', true],
    ["record", '{"id":9007199254740993}', false],
    ["record", '{"id":"9007199254740992"}', false],
    ["record", '{"i\\u0064":9007199254740992}', true],
    ["record", '{"__proto__":{"id":9007199254740992}}', false],
    ["record", '{"id":[9007199254740992]}', false],
    ["post", '{"id":9007199254740992,"user":"a"}', true],
    ["post", '{"id":9007199254740993,"user":"a"}', false],
    ["post", '{"id":1,"user":"r\\u006fot"}', false],
    ["post", '{"id":1,"User":"root"}', false],
    ["post", '{"id":1,"__proto__":{"user":"root"}}', false],
    ["post", '{"id":1,"constructor":{"user":"root"},"user":"a"}', true],
    ["read", '{"__proto__":{"path":"/public/a"}}', false],
    ["read", '{"path":{"toString":"/public/a"}}', false],
    ["pay", '{"amount":1e400,"currency":"EUR"}', false],
    ["pay", '{"amount":-1e400,"currency":"EUR"}', true],
    ["pay", '{"amount":true,"currency":"EUR"}', false],
    ["pay", '{"amount":null,"currency":"EUR"}', false],
    ["pay", '{"amount":[1],"currency":"EUR"}', false],
    ["pay", '{"amount":{"valueOf":1},"currency":"EUR"}', false],
  ])("a call of %s with %s is judged as servers read it", async (name, args, isAllowed) => {
    expect(await isCalled(path, "sessions", name, args)).toBe(isAllowed);
  });

  it.each(["[]", '"path"', "7"])("arguments %s are refused", async (args) => {
    expect(await isCalled(path, "sessions", "read", args)).toBe(false);
  });
});
