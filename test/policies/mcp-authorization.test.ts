import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { now, publicPart, sign } from "../harness/token.ts";

const everything = ["hello", "add", "drop", "ask", "memo://notes"];

/** The items that each caller may use under some rules; `nobody` has no token. */
const cases: Readonly<
  Record<string, { rules: readonly unknown[]; sees: Record<string, readonly string[]> }>
> = {
  "a rule without a claim is for everybody": {
    rules: ['mcp.tool.name == "hello"', 'jwt.sub == "alice" && mcp.tool.name == "add"'],
    sees: { nobody: ["hello"], alice: ["hello", "add"], bob: ["hello"] },
  },
  "a claim may open everything": {
    rules: ['"admin" in jwt.roles'],
    sees: { nobody: [], alice: everything, bob: [] },
  },
  "a deny rule hides one tool and says nothing about prompts": {
    rules: [{ deny: 'mcp.tool.name == "drop"' }],
    sees: {
      nobody: ["hello", "add", "ask", "memo://notes"],
      alice: ["hello", "add", "ask", "memo://notes"],
    },
  },
  "a deny rule over two kinds denies one of each and nothing else": {
    rules: [{ deny: 'mcp.tool.name == "drop" || mcp.prompt.name == "ask"' }],
    sees: { nobody: ["hello", "add", "memo://notes"] },
  },
  "a deny rule that binds a condition on a tool says nothing about prompts": {
    rules: [{ deny: 'cel.bind(t, mcp.tool.name == "drop", t)' }],
    sees: { nobody: ["hello", "add", "ask", "memo://notes"] },
  },
  "a deny rule on the caller or a tool denies the caller everything": {
    rules: [{ deny: 'default(jwt.sub, "") == "bob" || mcp.tool.name == "drop"' }],
    sees: { nobody: ["hello", "add", "ask", "memo://notes"], bob: [] },
  },
  "a require rule over two kinds asks of each its own": {
    rules: [{ require: 'mcp.tool.name == "hello" || mcp.resource.name == "memo://other"' }],
    sees: { nobody: ["hello", "ask"] },
  },
  "a choice allows what it says for each kind": {
    rules: ['mcp.tool.name == "add" ? true : mcp.prompt.name == "ask"'],
    sees: { nobody: ["add", "ask"] },
  },
  "a rule after one that denies a kind still holds": {
    rules: [
      { deny: 'has(mcp.prompt) ? true : mcp.resource.name == "x"' },
      { deny: 'mcp.tool.name == "add"' },
    ],
    sees: { nobody: ["hello", "drop", "memo://notes"] },
  },
  "rules tell targets apart": {
    rules: ['mcp.tool.target == "main"', 'mcp.tool.target == "other" || mcp.prompt.name == "ask"'],
    sees: { nobody: ["hello", "add", "drop", "ask"] },
  },
  "resources go by their URI": {
    rules: ['mcp.resource.name.startsWith("memo://")'],
    sees: { nobody: ["memo://notes"] },
  },
};

const claims: Readonly<Record<string, object | undefined>> = {
  nobody: undefined,
  alice: { sub: "alice", roles: ["admin"] },
  bob: { sub: "bob", roles: ["dev"] },
};

let server: Awaited<ReturnType<typeof startMcpServer>>;
let gateway: Gateway;
let key: JWK;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  server = await startMcpServer();
  const routes = Object.values(cases).map(
    ({ rules }, index) => `
- name: case-${index}
  matches: [{ path: { exact: /case-${index} } }]
  policies:
    jwtAuth: { mode: optional, issuer: "https://issuer.example", jwks: { file: keys.json } }
    mcpAuthorization: { rules: ${JSON.stringify(rules)} }
  backends: [{ mcp: { targets: [{ name: main, mcp: { host: "${server.url}" } }] } }]
`,
  );
  const keySet = JSON.stringify({ keys: [publicPart(key)] });
  gateway = await startRoutesText(routes.join(""), { "keys.json": keySet });
});

async function connect(index: number, caller: string): Promise<Client> {
  const own = claims[caller];
  const payload = { iss: "https://issuer.example", exp: now() + 60, ...own };
  const headers: Record<string, string> =
    own === undefined ? {} : { authorization: `Bearer ${await sign(key, payload)}` };
  const client = new Client({ name: "test", version: "1.0.0" });
  const url = new URL(`${gateway.url}/case-${index}`);
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

async function listed(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resources } = await client.listResources();
  return [
    ...tools.map(({ name }) => name),
    ...prompts.map(({ name }) => name),
    ...resources.map(({ uri }) => uri),
  ];
}

/** Uses an item; returns the message of the error if it is refused. */
async function use(client: Client, name: string): Promise<string | undefined> {
  try {
    if (name.startsWith("memo:")) await client.readResource({ uri: name });
    else if (name === "ask") await client.getPrompt({ name });
    else await client.callTool({ name });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const pairs = Object.entries(cases).flatMap(([name, { sees }], index) =>
  Object.entries(sees).map(([caller, items]) => [name, caller, index, items] as const),
);

describe("mcpAuthorization", () => {
  it.each(pairs)("%s: exactly what %s sees listed can be used", async (_, caller, index, items) => {
    const client = await connect(index, caller);
    expect(await listed(client)).toEqual(items);
    for (const name of everything) {
      const error = await use(client, name);
      if (items.includes(name)) expect(error, name).toBeUndefined();
      else expect(error, name).toMatch(/MCP error -32602: Unknown (tool|prompt|resource): /);
    }
    await client.close();
  });

  it("a hidden tool has the same response as an unknown one", async () => {
    const client = await connect(0, "bob");
    const hidden = await use(client, "add");
    const missing = await use(client, "nothing");
    expect(hidden?.replace("add", "nothing")).toBe(missing);
    await client.close();
  });
});
