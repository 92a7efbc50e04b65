import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startHandwritten } from "./mcp-gateway.ts";
import { initialize, openSession, post, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));
const notice = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
let upstream: RawUpstream;

beforeEach(async () => {
  upstream = await startUpstream((response, request, message) => {
    if (message.method !== "tools/call" && request.method !== "GET") {
      return mcpResponses({})(response, request, message);
    }
    if (request.text.includes("silent")) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${notice}\n\n`);
  });
});

/** Starts a gateway that serves on for so long after SIGTERM. */
function start(minimum = "1s"): Promise<Gateway> {
  const one = { name: "one", mcp: { host: upstream.url } };
  return startHandwritten(
    {
      routes: [
        { name: "mcp", targets: [one] },
        { name: "merged", path: "/merged", targets: [one, { ...one, name: "two" }] },
        {
          name: "stdio",
          path: "/stdio",
          targets: [{ name: "one", stdio: { cmd: process.execPath, args: [script] } }],
          timeouts: { keepAlive: 100 },
        },
      ],
    },
    { CONNECTION_MIN_TERMINATION_DEADLINE: minimum, CONNECTION_TERMINATION_DEADLINE: "1500ms" },
  );
}

it.each(["/mcp", "/merged", "/stdio"])(
  "a drain ends the streams of %s with an error for the request",
  async (path) => {
    const gateway = await start();
    const url = gateway.url.replace("/mcp", path);
    const session = await openSession(url);
    const tool = path === "/merged" ? "one_hang" : "hang";
    const headers = { ...session, "content-type": "application/json", accept: "*/*" };
    const body = JSON.stringify(toolCall(tool, "c"));
    const call = await fetch(url, { method: "POST", headers, body });
    const listening = await fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    const stopped = gateway.stop();
    const last = JSON.parse((await call.text()).trim().split("\ndata: ").at(-1) ?? "");
    expect(last).toMatchObject({ id: "c", error: { code: -32603 } });
    // The stream may end or be aborted; it must not continue.
    await listening.text().catch(() => {});
    expect(await stopped).toBe(0);
  },
);

it.each(["/mcp", "/stdio"])(
  "a drain answers a call of %s that has no response yet",
  async (path) => {
    const gateway = await start();
    const url = gateway.url.replace("/mcp", path);
    const session = await openSession(url);
    const tool = path === "/mcp" ? "silent" : "hang";
    const call = post(url, toolCall(tool, "s"), session);
    const active = async () =>
      (await expositionOf(await gateway.statsPort())).value("gwc_requests_active");
    await expect.poll(active).toBe(1);
    const stopped = gateway.stop();
    expect((await call).text).toContain(
      '"id":"s","error":{"code":-32603,"message":"The gateway is shutting down"}',
    );
    expect(await stopped).toBe(0);
  },
);

it("a drain refuses new sessions and serves the old ones", async () => {
  const gateway = await start("120s");
  const session = await openSession(gateway.url);
  process.kill(gateway.pid, "SIGTERM");
  await expect.poll(async () => (await post(gateway.url, initialize)).status).toBe(503);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await post(gateway.url, ping, session)).status).toBe(200);
});
