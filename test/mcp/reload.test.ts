import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { openSession, post, toolCall } from "./raw-client.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));
let gateway: GwcProcess;
let file: string;
let port: number;

/** Writes the configuration: one child, and the tools that its clients may use. */
function configure(tools: readonly string[]): void {
  const route = {
    name: "mcp",
    policies: { mcpAuthorization: { rules: [`mcp.tool.name in ${JSON.stringify(tools)}`] } },
    backends: [
      { mcp: { targets: [{ name: "child", stdio: { cmd: process.execPath, args: [script] } }] } },
    ],
  };
  const config = { adminAddr: "127.0.0.1:0" };
  writeFileSync(
    file,
    JSON.stringify({ config, binds: [{ port, listeners: [{ routes: [route] }] }] }),
  );
}

beforeAll(async () => {
  port = await freePort();
  file = join(temporaryFolder(), "gateway.yaml");
  configure(["args"]);
  gateway = new GwcProcess(["run", "-f", file], {
    env: { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" },
  });
  await gateway.seen(/listening on/);
});

it("a session and its child continue when the rules change", async () => {
  const url = `http://127.0.0.1:${port}/mcp`;
  const session = await openSession(url);
  const mayCall = async (tool: string) => {
    const response = await post(url, toolCall(tool), session);
    expect(response.status).toBe(200);
    return !response.text.includes("Unknown tool");
  };
  expect([await mayCall("args"), await mayCall("echo-id")]).toEqual([true, false]);
  const hanging = post(url, toolCall("hang", "h"), session).catch(() => undefined);
  configure(["echo-id"]);
  await expect.poll(() => mayCall("echo-id")).toBe(true);
  expect(await mayCall("args")).toBe(false);
  expect(gateway.output.match(/: child \d+/g)?.length).toBe(1);
  await gateway.stop();
  expect(await hanging).toBeDefined();
});
