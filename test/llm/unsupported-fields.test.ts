import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ANSWER = JSON.stringify({
  ...{ id: "m", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn" },
  ...{ content: [{ type: "text", text: "Hi" }], usage: { input_tokens: 1, output_tokens: 1 } },
});
const TOOL = { type: "function", function: { name: "look", parameters: { type: "object" } } };

/** Starts a gateway in front of Anthropic, which refuses unknown fields. */
async function startDropping(unsupported: string | undefined, model = "claude-sonnet-4-5") {
  const server = await startScripted((response) => {
    response.writeHead(200, JSON_TYPE).end(ANSWER);
  });
  const ai = { provider: { anthropic: { model } }, hostOverride: server.host };
  const routes = {
    "/v1/chat/completions": "completions",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
  };
  const policies = { ai: { routes, ...(unsupported && { unsupported }) } };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies }] }] }],
  });
  const ask = async (path: string, body: object) => {
    const answer = await send(`${gateway.url}${path}`, "POST", JSON_TYPE, JSON.stringify(body));
    const sent = server.received.at(-1)?.body.toString() ?? "null";
    return { ...answer, dropped: answer.headers["x-llm-dropped"], sent: JSON.parse(sent) };
  };
  return { ask, gateway, server };
}

const messages = [{ role: "user", content: "Hello" }];

it("a request with an unsupported field is refused by default", async () => {
  for (const mode of [undefined, "reject"]) {
    const { ask, server } = await startDropping(mode);
    const { status, body } = await ask("/v1/chat/completions", {
      ...{ model: "m", messages, logprobs: true },
    });
    expect(status).toBe(400);
    expect(JSON.parse(body).error).toMatchObject({ param: "logprobs" });
    expect(server.received).toHaveLength(0);
  }
});

it("unsupported fields are left out, and named in a header and in the log", async () => {
  const { ask, gateway } = await startDropping("drop");
  const { status, dropped, sent } = await ask("/v1/chat/completions", {
    ...{ model: "m", messages, logprobs: true, n: 3, logit_bias: { "5": 1 } },
    tools: [{ type: "shell", shell: { name: "raw" } }, TOOL, { type: "web", web: {} }],
  });
  expect(status).toBe(200);
  expect(dropped).toBe("logprobs, logit_bias, tools[0], tools[2], n");
  expect(sent).not.toHaveProperty("logprobs");
  expect(sent.tools).toMatchObject([{ name: "look" }]);
  await gateway.seen(/llm\.dropped="?logprobs, logit_bias, tools\[0\], tools\[2\], n/);
});

it("what a known model does not take is left out and named, next to other fields", async () => {
  const { ask } = await startDropping("drop", "claude-opus-4-7");
  const sampled = { model: "m", messages, temperature: 0.3, top_p: 0.5 };
  const { dropped, sent } = await ask("/v1/chat/completions", { ...sampled, logprobs: true });
  expect(dropped).toBe("logprobs, temperature, top_p");
  expect(sent).not.toHaveProperty("temperature");
  const rejecting = await startDropping(undefined, "claude-opus-4-7");
  expect(await rejecting.ask("/v1/chat/completions", sampled)).toMatchObject({
    status: 200,
    dropped: "temperature, top_p",
  });
  await rejecting.gateway.seen(/llm\.dropped="?temperature, top_p/);
  const plain = await rejecting.ask("/v1/chat/completions", { model: "m", messages });
  expect(plain.dropped).toBeUndefined();
});

it("hosted tools are left out with the choice of one of them", async () => {
  const { ask } = await startDropping("drop");
  const { status, dropped, sent } = await ask("/v1/responses", {
    ...{ model: "m", input: "Hello", tools: [{ type: "file_search", vector_store_ids: ["v"] }] },
    ...{ tool_choice: "required", top_logprobs: 3 },
  });
  expect(status).toBe(200);
  expect(dropped).toBe("top_logprobs, tools[0], tool_choice");
  expect(sent).not.toHaveProperty("tools");
});

it("content is never left out", async () => {
  const { ask } = await startDropping("drop");
  const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
  const { status } = await ask("/v1/chat/completions", {
    ...{ model: "m", messages: [{ role: "user", content: [audio] }] },
  });
  expect(status).toBe(400);
  const stored = await ask("/v1/responses", {
    ...{ model: "m", input: "Hello", previous_response_id: "resp_1" },
  });
  expect(stored.status).toBe(400);
});

it("a request that can be sent whole has no header", async () => {
  const { ask } = await startDropping("drop");
  const { status, headers } = await ask("/v1/chat/completions", { model: "m", messages });
  expect(status).toBe(200);
  expect(headers).not.toHaveProperty("x-llm-dropped");
});

it("so many unsupported fields that reading takes long are refused", async () => {
  const { ask } = await startDropping("drop");
  const tools = Array.from({ length: 65 }, () => ({ type: "file_search" }));
  const { status } = await ask("/v1/responses", { model: "m", input: "Hello", tools });
  expect(status).toBe(400);
});

it("a model of the short form has a setting of its own", async () => {
  const server = await startScripted((response) => {
    response.writeHead(200, JSON_TYPE).end(ANSWER);
  });
  const params = { model: "claude-sonnet-4-5", baseUrl: `http://${server.host}`, apiKey: "${KEY}" };
  const model = { provider: "anthropic", params };
  const gateway = await startGateway({
    env: { KEY: "k" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "strict", ...model },
          { name: "lenient", ...model, unsupported: "drop" },
        ],
      },
    },
  });
  const statuses: number[] = [];
  for (const name of ["strict", "lenient"]) {
    const body = JSON.stringify({ model: name, messages, logprobs: true });
    const url = `${gateway.url}/v1/chat/completions`;
    statuses.push((await send(url, "POST", JSON_TYPE, body)).status);
  }
  expect(statuses).toEqual([400, 200]);
});
