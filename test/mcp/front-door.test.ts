import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { everythingScript, startEverything } from "../harness/everything-server.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";

const scripted = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));

/** Connects a client to a gateway whose file contains only `mcp`. */
async function clientOf(mcp: object, env: Readonly<Record<string, string>> = {}): Promise<Client> {
  const gateway = await startGateway({ config: { mcp: { port: await freePort(), ...mcp } }, env });
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`));
  onTestFinished(() => client.close());
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

it("a file with only `mcp` serves its servers as one, under the policies next to them", async () => {
  const client = await clientOf({
    policies: { mcpAuthorization: { rules: ['mcp.tool.name == "echo"'] } },
    targets: [
      { name: "child", stdio: { cmd: process.execPath, args: [everythingScript()] } },
      {
        name: "far",
        mcp: { host: `http://127.0.0.1:${await startEverything("streamableHttp")}/mcp` },
      },
    ],
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["child_echo", "far_echo"]);
  const result = await client.callTool({ name: "far_echo", arguments: { message: "hello" } });
  expect(result.content).toEqual([{ type: "text", text: "Echo: hello" }]);
});

it.each([
  [false, expect.arrayContaining(["PATH", "OWN"])],
  [true, ["OWN"]],
])("a child with clear_env: %s has the documented environment", async (clear_env, names) => {
  const stdio = { cmd: process.execPath, args: [scripted], env: { OWN: "1" }, clear_env };
  const client = await clientOf({ targets: [{ name: "child", stdio }] }, { GATEWAY_SECRET: "x" });
  const { content } = await client.callTool({ name: "env", arguments: {} });
  const [{ text }] = content as [{ text: string }];
  expect(Object.keys(JSON.parse(text))).toEqual(names);
  expect(text).not.toContain("GATEWAY_SECRET");
});

it.each([
  [{ targets: [] }, ["no-targets"]],
  [{ port: 3000 }, ["missing-field"]],
  [{ targets: [{ name: "a", stdio: { cmd: "node", clear_env: "yes" } }] }, ["wrong-type"]],
  [
    { targets: [{ name: "a", stdio: { cmd: "node" } }], policies: { ai: { defaults: { a: 1 } } } },
    ["misplaced-field"],
  ],
])("%j is reported", (mcp, codes) => {
  const host = memoryHost({ "gateway.yaml": stringify({ mcp }) });
  const { findings } = checkInput(["gateway.yaml"], host, false);
  expect(findings.map(({ code }) => code)).toEqual(codes);
});
