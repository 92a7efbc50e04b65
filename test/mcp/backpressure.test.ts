import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { settled } from "../harness/settled.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));
const megabyte = 1_000_000;
const notice = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"x":"${"x".repeat(megabyte)}"}}\n\n`;
let upstream: RawUpstream;
let gateway: Gateway;
/** Megabytes that the upstream was able to send. */
let sent = 0;

beforeAll(async () => {
  upstream = await startUpstream((response, request, message) => {
    if (message.method !== "tools/call") return mcpResponses({})(response, request, message);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pump = () => {
      if (response.destroyed || sent === 400) return;
      sent += 1;
      if (response.write(notice)) setImmediate(pump);
      else response.once("drain", pump);
    };
    pump();
  });
  const one = { name: "one", mcp: { host: upstream.url } };
  gateway = await startMcpGateway([
    { name: "mcp", targets: [one] },
    { name: "merged", path: "/merged", targets: [one, { ...one, name: "two" }] },
    {
      name: "stdio",
      path: "/stdio",
      targets: [{ name: "one", stdio: { cmd: process.execPath, args: [script] } }],
    },
  ]);
});

it.each([
  ["/mcp", "flood"],
  ["/merged", "one_flood"],
  ["/stdio", "flood"],
])("a client of %s that does not read pauses only its own server", async (path, tool) => {
  const url = gateway.url.replace("/mcp", path);
  const session = await openSession(url);
  sent = 0;
  const headers = { ...session, accept: "*/*", "content-type": "application/json" };
  const reading = request(url, { method: "POST", headers, agent: false }, (response) =>
    response.pause(),
  );
  reading.on("error", () => {});
  reading.end(JSON.stringify(toolCall(tool)));
  const flooded = () =>
    [...gateway.output.matchAll(/flooded (\d+)/g)].map((match) => Number(match[1]));
  const taken = await settled(() => (path === "/stdio" ? Math.max(0, ...flooded()) : sent));
  expect(taken).toBeLessThan(50);
  const other = await openSession(url);
  expect((await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, other)).status).toBe(200);
  reading.destroy();
  await send(url, { method: "DELETE", headers: session });
});
