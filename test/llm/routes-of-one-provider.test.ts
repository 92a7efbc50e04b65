import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

it("a single provider says which types of requests its paths are, and passes on the others", async () => {
  const seen: string[] = [];
  const server = await startUpstream((request, response) => {
    seen.push(request.url ?? "");
    const text = { type: "text", text: "hello" };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "a", type: "message", role: "assistant", content: [text], usage };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...message, model: "claude", stop_reason: "end_turn" }));
  });
  const routes = { "/v1/messages": "messages", "*": "passthrough" };
  const gateway = await startGateway({
    listeners: [
      {
        name: "http",
        routes: [
          {
            name: "agent",
            matches: [{ path: { pathPrefix: "/claude" } }],
            policies: { urlRewrite: { path: { prefix: "/" } } },
            backends: [
              {
                ai: {
                  name: "claude",
                  provider: { anthropic: {} },
                  hostOverride: new URL(server).host,
                  policies: { ai: { routes, providerHeader: false } },
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const body = JSON.stringify({
    model: "claude",
    max_tokens: 1,
    messages: [{ role: "user", content: "hi" }],
  });
  const headers = { "content-type": "application/json" };
  const answered = await send(`${gateway.url}/claude/v1/messages`, "POST", headers, body);
  expect(answered.status).toBe(200);
  expect(JSON.parse(answered.body)).toMatchObject({ type: "message" });
  expect((await send(`${gateway.url}/claude/v1/others`, "GET")).status).toBe(200);
  expect(seen).toEqual(["/v1/messages", "/v1/others"]);
});
