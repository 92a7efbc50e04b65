import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Requests to a server that refuses as Copilot's API does. */
const got: { path: string | undefined; authorization: string | undefined }[] = [];

const REQUIRED = ["editor-version", "x-github-api-version", "openai-intent"];

it.each([
  ["/v1/chat/completions", "/chat/completions", { messages: [{ role: "user", content: "hi" }] }],
  ["/v1/messages", "/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
  ["/v1/responses", "/responses", { input: "hi" }],
] as const)("requests to %s have the headers that Copilot requires", async (path, at, body) => {
  const url = await startUpstream((request, response) => {
    got.push({ path: request.url, authorization: request.headers.authorization });
    const isComplete = REQUIRED.every((name) => request.headers[name] !== undefined);
    response.writeHead(isComplete ? 200 : 400, { "content-type": "application/json" });
    response.end(isComplete ? "{}" : '{"error":"missing Editor-Version"}');
  });
  const gateway = await startGateway({
    env: { GH_COPILOT_TOKEN: "ghu_1" },
    listeners: [
      {
        routes: [
          {
            backends: [
              {
                ai: {
                  name: "c",
                  provider: { copilot: { model: "gpt-4.1" } },
                  hostOverride: new URL(url).host,
                },
                policies: {
                  backendAuth: { key: "${GH_COPILOT_TOKEN}" },
                  ai: {
                    routes: {
                      "/v1/chat/completions": "completions",
                      "/v1/messages": "messages",
                      "/v1/responses": "responses",
                    },
                  },
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const headers = { "content-type": "application/json", authorization: "Bearer of-the-client" };
  const sent = JSON.stringify({ model: "gpt-4.1", ...body });
  const { status } = await send(`${gateway.url}${path}`, "POST", headers, sent);
  expect(status).toBe(200);
  expect(got.at(-1)).toEqual({ path: at, authorization: "Bearer ghu_1" });
});
