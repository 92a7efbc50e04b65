import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { manyTools, servingTools } from "./many-tools.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

let server: RawUpstream;
let gateway: Gateway;

/** Rules that read arguments in different ways. */
const rules = [
  ['mcp.tool.arguments.repo == "acme"'],
  ['mcp.tool.arguments.repo != "acme"'],
  ["!has(mcp.tool.arguments.repo)"],
  [{ deny: "has(mcp.tool.arguments.force)" }, "true"],
  [{ deny: "mcp.tool.arguments.force == true" }, "true"],
  [{ require: "size(mcp.tool.arguments) == 2" }, "true"],
  ["mcp.tool.arguments.count <= 5"],
  ['request.path.startsWith("/rules-7") && mcp.tool.arguments.repo == "acme"'],
] as const;

const entries = {
  a: { set: { repo: "acme" } },
  b: { set: { repo: "other", count: 3 } },
  c: { set: { force: true } },
  d: { hide: ["force", "repo"] },
  e: { set: { count: "3" }, hide: ["force"] },
} as const;

const given: readonly object[] = [
  {},
  { title: "x" },
  { repo: "acme" },
  { REPO: "acme" },
  { force: false },
  { count: 9 },
  { count: 2, title: "x" },
  { __proto__: null, constructor: "y" },
];

const hidden = ["delete_issue", "export_report", "approve_payment"];

beforeAll(async () => {
  server = await startUpstream(
    servingTools("code", [{ name: "create", inputSchema: { type: "object" } }]),
  );
  const all = manyTools(30);
  const [whole, part] = await Promise.all([
    startUpstream(servingTools("docs", all)),
    startUpstream(
      servingTools(
        "docs",
        all.filter((tool) => !hidden.includes(Object(tool).name)),
      ),
    ),
  ]);
  const views = Object.entries(entries).map(([name, entry]) => ({
    name,
    tools: [{ target: "code", tool: "create", name: "do", ...entry }],
  }));
  const route = (pathPrefix: string, list: readonly unknown[], mcp: object) => ({
    matches: [{ path: { pathPrefix } }],
    policies: { mcpAuthorization: { rules: list } },
    backends: [{ mcp }],
  });
  const targets = [{ name: "code", mcp: { host: server.url } }];
  const searched = (url: string) => ({
    toolSearch: { above: 5 },
    targets: [{ name: "docs", mcp: { host: url } }],
  });
  const names = hidden.map((name) => `"${name}"`).join();
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          ...rules.map((list, at) => route(`/rules-${at}`, list, { targets, views })),
          route("/whole", [{ deny: `mcp.tool.name in [${names}]` }, "true"], searched(whole.url)),
          route("/part", ["true"], searched(part.url)),
        ],
      },
    ],
  });
});

/** Calls a tool and returns the arguments that the server got; `undefined` if it got no call. */
async function reached(path: string, name: string, args: object): Promise<unknown> {
  server.seen.length = 0;
  const url = `${gateway.url}${path}`;
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  await post(url, call, await openSession(url));
  const sent = server.seen.find(({ text }) => text.includes('"tools/call"'));
  return sent && JSON.parse(sent.text).params.arguments;
}

describe.each(Object.keys(rules).map(Number))("a view with rules %i", (at) => {
  it.each(Object.keys(entries) as (keyof typeof entries)[])(
    "%s passes exactly the calls that pass without it",
    async (view) => {
      const { set = {}, hide = [] }: { set?: object; hide?: readonly string[] } = entries[view];
      const unseen = [...Object.keys(set), ...hide];
      for (const args of given) {
        const isRefused = Object.keys(args).some((key) => unseen.includes(key.toLowerCase()));
        const plain = isRefused
          ? undefined
          : await reached(`/rules-${at}`, "create", { ...set, ...args });
        const viewed = await reached(`/rules-${at}/${view}`, "do", args);
        expect(viewed, JSON.stringify(args)).toEqual(plain);
      }
    },
  );
});

describe("a search is no oracle for hidden tools", () => {
  /** Returns the result of a tool of the gateway, without the id of the session. */
  async function use(path: string, name: string, args: object): Promise<unknown> {
    const response = await ask(`${gateway.url}${path}`, "tools/call", { name, arguments: args });
    return messagesOf(response);
  }

  const queries = [
    ...[
      "delete",
      "delete issue",
      "dlete isue",
      "export report history",
      "approve payment",
      "issue",
    ],
    ...[
      "deletes",
      "report",
      "payment approve the of",
      "workspace",
      "approval",
      "e",
      "delete_issue",
    ],
  ];

  it.each(queries)("results for %j are those of a server without them", async (query) => {
    for (const limit of [1, 5, 20]) {
      const [whole, part] = await Promise.all(
        ["/whole", "/part"].map((path) => use(path, "search_tools", { query, limit })),
      );
      expect(whole).toEqual(part);
      expect(JSON.stringify(whole)).toContain("result");
    }
  });

  it.each(hidden)("%s is described as a tool that no server has", async (name) => {
    const absent = "remove_nothing";
    const [found, unknown] = await Promise.all(
      [name, absent].map((each) => use("/whole", "describe_tool", { name: each })),
    );
    expect(JSON.stringify(found).replaceAll(name, "X")).toBe(
      JSON.stringify(unknown).replaceAll(absent, "X"),
    );
    const called = await use("/whole", "call_tool", { name, arguments: {} });
    expect(JSON.stringify(called)).toContain(`Unknown tool: ${name}`);
  });
});

it.each([
  ['{"repo":"acme"}', "the argument of a view"],
  ['{"title":"a","title":"b"}', "a repeated argument"],
  ['{"r\\u0065po":"acme"}', "an escaped argument of a view"],
  ['{"\\u0052EPO":"x"}', "an argument in another case"],
])("a call with %s (%s) does not reach the server", async (text) => {
  const url = `${gateway.url}/rules-0/a`;
  server.seen.length = 0;
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do","arguments":${text}}}`;
  const response = await post(url, call, await openSession(url));
  expect(response.text).toContain("error");
  expect(server.seen.some((seen) => seen.text.includes('"tools/call"'))).toBe(false);
});
