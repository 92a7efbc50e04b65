import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startHandwritten, type TestGateway } from "./gateways.ts";
import { initialize, messagesOf, openSession, post, toolCall } from "./raw-client.ts";
import { mcpAnswers, type RawUpstream, startUpstream } from "./raw-upstream.ts";

const script = fileURLToPath(new URL("../fixtures/mcp/scripted-stdio.mjs", import.meta.url));
const notice = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
let upstream: RawUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await startUpstream((response, request, message) => {
    if (message.method !== "tools/call" && request.method !== "GET") {
      return mcpAnswers({})(response, request, message);
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${notice}\n\n`);
  });
  const one = { name: "one", mcp: { host: upstream.url } };
  gateway = await startHandwritten({
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
  });
});
afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

test.each(["/mcp", "/merged", "/stdio"])(
  "a drain ends the streams of %s with an error for the request, and the process with 0",
  async (path) => {
    const url = gateway.url.replace("/mcp", path);
    const session = await openSession(url);
    const tool = path === "/merged" ? "one_hang" : "hang";
    const call = post(url, toolCall(tool, "c"), session);
    const listening = fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    const listened = (await listening).text();
    await new Promise((resolve) => setTimeout(resolve, 250));
    const stopped = gateway.stop();
    const last = messagesOf(await call).at(-1);
    expect(last).toMatchObject({ id: "c", error: { code: -32603 } });
    // The stream may end or break off; what matters is that it does not go on.
    await listened.catch(() => {});
    expect(await stopped).toBe(0);
  },
);

test("a drain refuses new sessions and serves the old ones", async () => {
  const session = await openSession(gateway.url);
  // A stream that is open keeps the gateway until the deadline.
  const controller = new AbortController();
  const headers = { ...session, accept: "text/event-stream" };
  await fetch(gateway.url, { headers, signal: controller.signal });
  process.kill(gateway.pid, "SIGTERM");
  const late = await post(gateway.url, initialize).catch(() => undefined);
  // Either the port is closed already or the gateway says no.
  if (late !== undefined) expect(late.status).toBe(503);
  controller.abort();
});
