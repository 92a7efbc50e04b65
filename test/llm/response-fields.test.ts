import { request } from "undici";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { chunk, completion } from "./llm-upstream.ts";

const JSON_TYPE = { "content-type": "application/json" };
const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

/** Starts a gateway in front of a server of chat completions that answers with a message. */
async function startServer(
  message: object,
  members: object,
  pieces: readonly object[] = [message],
): Promise<{ readonly gateway: Gateway; readonly server: Scripted }> {
  const server = await startScripted((response, _, { body }) => {
    const whole = JSON.parse(completion);
    if (JSON.parse(body.toString()).stream !== true) {
      const choices = [{ ...whole.choices[0], message: { role: "assistant", ...message } }];
      const { usage } = whole;
      response.writeHead(200, JSON_TYPE);
      response.end(JSON.stringify({ ...whole, choices, usage, ...members }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(chunk(piece));
    response.write(chunk({}, "stop"));
    const last = { id: "c1", model: "gpt-real", choices: [], usage: USAGE, ...members };
    response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  }, "anything");
  const ai = { provider: { openAI: { api: "completions" } }, hostOverride: server.host };
  const routes = { "/v1/messages": "messages", "/v1/responses": "responses" };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes } } }] }] }],
  });
  return { gateway, server };
}

const MESSAGES = [{ role: "user", content: "Hello" }];

async function ask(gateway: Gateway, fields: object = {}) {
  const response = await request(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { ...JSON_TYPE, te: "trailers" },
    body: JSON.stringify({ model: "m", max_tokens: 99, messages: MESSAGES, ...fields }),
  });
  const text = await response.body.text();
  const { statusCode: status, headers, trailers } = response;
  return { status, dropped: headers["x-llm-response-dropped"], trailers, text };
}

const ODD = {
  ...{ service_tier: "flex", system_fingerprint: "fp_1", x_groq: { id: "r" } },
  ...{ "bad\r\nname": 1, prompt_logprobs: null },
};

it("a whole response names the fields that its client does not get", async () => {
  const { gateway } = await startServer({ content: "Hi." }, ODD);
  const { status, dropped } = await ask(gateway);
  expect({ status, dropped }).toEqual({ status: 200, dropped: "x_groq, bad??name, service_tier" });
  await gateway.seen(/llm\.response\.dropped="?x_groq/);
});

it("a stream names them in a comment and a trailer", async () => {
  const { gateway } = await startServer({ content: "Hi." }, ODD);
  const { dropped, trailers, text } = await ask(gateway, { stream: true });
  const names = "x_groq, bad??name, service_tier";
  expect(dropped).toBeUndefined();
  expect(text).toContain(`: x-llm-response-dropped: ${names}\n\n`);
  expect(trailers).toEqual({ "x-llm-response-dropped": names });
});

it("a response of which nothing is left out names nothing", async () => {
  const { gateway } = await startServer({ content: "Hi." }, { service_tier: "default" });
  const whole = await ask(gateway);
  expect(whole.dropped).toBeUndefined();
  expect(JSON.parse(whole.text).usage.service_tier).toBe("standard");
  const streamed = await ask(gateway, { stream: true });
  expect(streamed.trailers).toEqual({});
  expect(streamed.text).toContain('"service_tier":"standard"');
});

const DETAILS = [
  { type: "reasoning.text", text: "Let me think.", signature: "sig", format: "f", index: 0 },
  { type: "reasoning.encrypted", data: "AAAA", format: "f", index: 1 },
];
const PIECES = [
  {
    reasoning_details: [{ ...DETAILS[0], text: "Let me ", signature: null }],
    reasoning: "Let me ",
  },
  { reasoning_details: [{ ...DETAILS[0], text: "think." }], reasoning: "think." },
  { content: "Hi.", reasoning_details: [DETAILS[1]] },
];

it.each([false, true])("details of reasoning return to their server: stream %s", async (stream) => {
  const message = { content: "Hi.", reasoning: "Let me think.", reasoning_details: DETAILS };
  const { gateway, server } = await startServer(message, {}, PIECES);
  const { text } = await ask(gateway, { stream });
  const [, signature = ""] = /"signature":"(details:[\w-]+)"/.exec(text) ?? [];
  const thinking = { type: "thinking", thinking: "Let me think.", signature };
  const answered = { role: "assistant", content: [thinking, { type: "text", text: "Hi." }] };
  await ask(gateway, { messages: [...MESSAGES, answered, { role: "user", content: "More" }] });
  const sent = JSON.parse(server.received.at(-1)?.body.toString() ?? "{}");
  expect(sent.messages[1]).toMatchObject({ content: "Hi.", reasoning_details: DETAILS });
});
