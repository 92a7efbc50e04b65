import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const TOKEN = "Bearer sk-ant-oat01-abc";
const ASK = JSON.stringify({
  model: "claude-sonnet-4-5",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hello" }],
});

/** Headers and path of the request that a provider gets, with the client's own key. */
async function sentTo(
  provider: "anthropic" | "openAI",
  path: string,
  headers: Record<string, string>,
): Promise<{ readonly url?: string | undefined; readonly headers: Record<string, unknown> }> {
  const server = await startScripted((response) => {
    response.writeHead(529).end();
  }, "anything");
  const ai = { provider: { [provider]: {} }, hostOverride: server.host };
  const policies = {
    backendAuth: { passthrough: {} },
    ai: { routes: { "/v1/messages": "messages" } },
  };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies }] }] }],
  });
  await send(
    `${gateway.url}${path}`,
    "POST",
    { "content-type": "application/json", ...headers },
    ASK,
  );
  const [received] = server.received;
  return { url: received?.url, headers: { ...received?.headers } };
}

it("a token of a subscription reaches Anthropic as it came", async () => {
  const { headers } = await sentTo("anthropic", "/v1/messages", { authorization: TOKEN });
  expect(headers).toMatchObject({ authorization: TOKEN });
  expect(headers).not.toHaveProperty("x-api-key");
});

it("a token of a subscription reaches no other provider", async () => {
  const { headers } = await sentTo("openAI", "/v1/messages", { authorization: TOKEN });
  expect(JSON.stringify(headers)).not.toContain("sk-ant-oat");
});

it("another key is sent in the header of the provider", async () => {
  const { headers } = await sentTo("anthropic", "/v1/messages", { authorization: "Bearer sk-1" });
  expect(headers).toMatchObject({ "x-api-key": "sk-1" });
});

it("the query of a client reaches a provider of the same format", async () => {
  const { url } = await sentTo("anthropic", "/v1/messages?beta=true", { "x-api-key": "sk-1" });
  expect(url).toBe("/v1/messages?beta=true");
});

it("a query with a key stays at the gateway", async () => {
  const { url } = await sentTo("anthropic", "/v1/messages?key=abc", { "x-api-key": "sk-1" });
  expect(url).toBe("/v1/messages");
});
