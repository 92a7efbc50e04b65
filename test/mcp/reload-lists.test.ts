import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { mcpResponses, startUpstream } from "./raw-upstream.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));

/** Starts a server that keeps its GET stream open and has two tools. */
async function startServer(): Promise<string> {
  const tools = JSON.stringify(
    ["args", "env"].map((name) => ({ name, inputSchema: { type: "object" } })),
  );
  const responses = mcpResponses({ "tools/list": `{"tools":${tools}}` });
  const upstream = await startUpstream((response, request, message) => {
    if (request.method !== "GET") return responses(response, request, message);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": here\n\n");
  });
  return upstream.url;
}

it.each(["stdio", "streamable HTTP"])(
  "a connected client lists its tools again when other rules are served (%s)",
  async (kind) => {
    const port = await freePort();
    const file = join(temporaryFolder(), "gateway.yaml");
    const target =
      kind === "stdio"
        ? { name: "child", stdio: { cmd: process.execPath, args: [script] } }
        : { name: "server", mcp: { host: await startServer() } };
    const configure = (rule: string) => {
      const policies = { mcpAuthorization: { rules: [rule] } };
      const routes = [{ name: "mcp", policies, backends: [{ mcp: { targets: [target] } }] }];
      const config = { adminAddr: "127.0.0.1:0" };
      writeFileSync(file, JSON.stringify({ config, binds: [{ port, listeners: [{ routes }] }] }));
    };
    configure('mcp.tool.name == "args"');
    const gateway = new GwcProcess(["run", "-f", file], {
      env: { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" },
    });
    await gateway.seen(/listening on/);

    const client = new Client({ name: "test", version: "1.0.0" });
    atEnd(() => client.close());
    let told = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      told += 1;
    });
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
    // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(["args"]);
    // The stream is opened after the client has connected, and no response marks that moment, so the rules change until the
    // client is notified.
    let turn = 0;
    await eventually(async () => {
      configure(`mcp.tool.name == "env" || mcp.tool.name == "none-${turn++}"`);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return told > 0 || null;
    }, "the notification");
    expect(await names()).toEqual(["env"]);
  },
);
