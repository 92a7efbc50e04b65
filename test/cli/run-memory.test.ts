import { createServer } from "node:http";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { listen } from "../harness/listen.ts";
import { Workspace } from "../harness/workspace.ts";
import { openSession, post, toolCall } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";

/** Edits, and megabytes that all of them may leave behind. Each one left 2 to 4 where gateways stayed in memory. */
const [edits, maxLeft] = process.env.GWC_LONG_TESTS ? [1000, 20] : [15, 8];

const works = mcpResponses({
  "tools/list": '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
  "tools/call": '{"content":[]}',
});

/** A model that says hello. */
const completion = JSON.stringify({
  ...{ id: "c", object: "chat.completion", created: 1, model: "gpt-4o" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

it("gwc run gives the memory of a gateway back that an edit has replaced, with traffic and tracing", async () => {
  const takesAll = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(request.url === "/v1/chat/completions" ? completion : "{}");
    });
  });
  const server = `127.0.0.1:${await listen(takesAll)}`;
  const { url: mcp } = await startUpstream(works);
  const [port, admin] = [await freePort(), await freePort()];
  const path = (prefix: string) => [{ path: { pathPrefix: prefix } }];
  const provider = { name: "m", provider: { openAI: {} }, hostOverride: server };
  const config = (edit: number) => {
    const policies = { responseHeaderModifier: { set: { "x-edit": String(edit) } } };
    return JSON.stringify({
      config: {
        ...{ adminAddr: `127.0.0.1:${admin}`, statsAddr: "127.0.0.1:0" },
        readinessAddr: "127.0.0.1:0",
      },
      frontendPolicies: { tracing: { host: server, protocol: "http", randomSampling: true } },
      binds: [
        {
          port,
          listeners: [
            {
              routes: [
                { name: "plain", matches: path("/plain"), policies, backends: [{ host: server }] },
                { name: "llm", matches: path("/v1"), policies, backends: [{ ai: provider }] },
                {
                  ...{ name: "mcp", matches: path("/mcp"), policies },
                  backends: [{ mcp: { targets: [{ name: "t", mcp: { host: mcp } }] } }],
                },
              ],
            },
          ],
        },
      ],
    });
  };
  const workspace = new Workspace({ "gateway.yaml": config(0) });
  const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")], {
    env: { NODE_OPTIONS: "--inspect-port=127.0.0.1:0", RUST_LOG: "warn" },
  });
  await running.seen(/admin page/);
  const url = `http://127.0.0.1:${port}`;
  const call = async (edit: number) => {
    for (let count = 0; count < 20; count++) {
      const headers = { "user-agent": `client-${edit}-${count}` };
      const { status } = await fetch(`${url}/plain/${edit}/${count}`, { headers });
      expect(status).toBe(200);
    }
    const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] });
    const said = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
    expect(await said.text()).toContain("hello");
    const session = await openSession(`${url}/mcp`);
    expect((await post(`${url}/mcp`, toolCall("a", 2), session)).status).toBe(200);
  };
  const change = async (edit: number) => {
    const from = running.output.length;
    workspace.write("gateway.yaml", config(edit));
    await running.seen(/gateway\.yaml changed: /, from);
    await call(edit);
  };
  await call(0);
  // The thread that compiles, pools and caches are there from then on.
  for (let edit = 1; edit <= 5; edit++) await change(edit);
  const before = await heldMegabytes(running);
  for (let edit = 6; edit < 6 + edits; edit++) await change(edit);
  expect((await heldMegabytes(running)) - before).toBeLessThan(maxLeft);
  expect(await running.stop()).toBe(0);
}, 7_200_000);
