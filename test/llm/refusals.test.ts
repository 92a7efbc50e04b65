import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { json } from "./media-upstream.ts";

const REFUSAL = "I cannot do that.";
const PAGE = { url: "https://example.com/a", title: "A" };
const CITED = { ...PAGE, start_index: 0, end_index: 5 };

/** Events of a stream of chat completions. */
function chunks(deltas: readonly object[]): string {
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const all = [
    ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: "stop" },
  ];
  const lines = all.map((choice) => `data: ${JSON.stringify({ ...head, choices: [choice] })}`);
  return [...lines, "data: [DONE]", ""].join("\n\n");
}

/** A server of chat completions that refuses, or cites a page. */
function completions({ body }: Received): readonly [message: object, stream: string] {
  if (!body.includes("[cite]")) {
    const pieces = ["I cannot ", "do that."].map((refusal) => ({ refusal }));
    return [{ role: "assistant", content: null, refusal: REFUSAL }, chunks(pieces)];
  }
  const annotations = [{ type: "url_citation", url_citation: CITED }];
  const message = { role: "assistant", content: "Hello", annotations };
  return [message, chunks([{ content: "Hello" }, { annotations }])];
}

async function startChat(api: "completions" | "responses"): Promise<Gateway> {
  const server = await startScripted((response, _, request) => {
    const isStream = JSON.parse(request.body.toString()).stream === true;
    if (isStream) response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.url.endsWith("/responses")) {
      const content = [{ type: "refusal", refusal: REFUSAL }];
      const item = { id: "msg_1", type: "message", role: "assistant", content };
      const whole = { id: "resp_1", status: "completed", model: "m", output: [item] };
      if (!isStream) {
        json(response, whole);
        return;
      }
      const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
      const events = [
        { type: "response.created", response: { ...whole, output: [] } },
        { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
        { type: "response.refusal.delta", ...at, delta: REFUSAL },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: whole },
      ];
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
      return;
    }
    const [message, stream] = completions(request);
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    if (isStream) response.end(stream);
    else json(response, { id: "c", object: "chat.completion", created: 1, model: "m", choices });
  }, "anything");
  const ai = { provider: { openAI: { api } }, hostOverride: server.host };
  const routes = {
    ...{ "/v1/chat/completions": "completions", "/v1/messages": "messages" },
    "/v1/responses": "responses",
  };
  return startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes } } }] }] }],
  });
}

const openAi = ({ url }: Gateway) => new OpenAI({ apiKey: "k", baseURL: `${url}/v1` });
const anthropic = ({ url }: Gateway) => new Anthropic({ apiKey: "k", baseURL: url });
const asked = (content: string) => [{ role: "user" as const, content }];
const question = { model: "m", messages: asked("Hello") };

it("a refusal of a Responses API is one for a client of chats, whole and streamed", async () => {
  const { chat } = openAi(await startChat("responses"));
  const whole = await chat.completions.create(question);
  const streamed = await chat.completions.stream(question).finalChatCompletion();
  for (const { choices } of [whole, streamed]) {
    expect(choices[0]?.message.refusal).toBe(REFUSAL);
    expect(choices[0]?.message.content || null).toBeNull();
  }
});

it("a refusal of a chat is one for a client of the Responses API, whole and streamed", async () => {
  const { responses } = openAi(await startChat("completions"));
  const asks = { model: "m", input: "Hello" };
  const stream = responses.stream(asks);
  const pieces: string[] = [];
  stream.on("response.refusal.delta", ({ delta }) => pieces.push(delta));
  for (const { output } of [await responses.create(asks), await stream.finalResponse()]) {
    expect(output).toMatchObject([
      { type: "message", content: [{ type: "refusal", refusal: REFUSAL }] },
    ]);
  }
  expect(pieces.join("")).toBe(REFUSAL);
});

it.each(["completions", "responses"] as const)(
  "a refusal of OpenAI's %s ends a message of Anthropic with its reason",
  async (api) => {
    const { messages } = anthropic(await startChat(api));
    const asks = { ...question, max_tokens: 9 };
    for (const message of [
      await messages.create(asks),
      await messages.stream(asks).finalMessage(),
    ]) {
      expect(message).toMatchObject({
        stop_reason: "refusal",
        content: [{ type: "text", text: REFUSAL }],
      });
    }
  },
);

it("pages that a chat cites reach clients of the other APIs, whole and streamed", async () => {
  const gateway = await startChat("completions");
  const { messages } = anthropic(gateway);
  const asks = { model: "m", messages: asked("[cite]"), max_tokens: 9 };
  for (const { content } of [
    await messages.create(asks),
    await messages.stream(asks).finalMessage(),
  ]) {
    expect(content).toMatchObject([{ type: "text", text: "Hello", citations: [PAGE] }]);
  }
  const { responses } = openAi(gateway);
  const input = { model: "m", input: "[cite]" };
  for (const { output } of [
    await responses.create(input),
    await responses.stream(input).finalResponse(),
  ]) {
    expect(output).toMatchObject([
      { content: [{ type: "output_text", text: "Hello", annotations: [CITED] }] },
    ]);
  }
});
