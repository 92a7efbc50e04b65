import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { cut, disguises } from "./disguises.ts";

const COUNT = process.env.GWC_LONG_TESTS === undefined ? 30 : 200;
const cases = fc.sample(fc.tuple(disguises, fc.array(fc.nat(200), { maxLength: 5 })), COUNT);

let gateway: Gateway;
let provider: Scripted;
/** The provider's next response. */
let next: { readonly type: string; readonly body: string } = { type: "", body: "" };

const sent = { headers: { "content-type": "application/json" }, method: "POST" };
const formats = {
  completions: {
    path: "/v1/chat/completions",
    request: (content: string) => ({ model: "m", messages: [{ role: "user", content }] }),
    whole: (content: string) => ({
      ...{ id: "c", object: "chat.completion", model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    }),
    events: (pieces: readonly string[]) => [
      ...pieces.map((content) => ({ id: "c", choices: [{ index: 0, delta: { content } }] })),
      { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ],
  },
  messages: {
    path: "/v1/messages",
    request: (content: string) => ({
      ...{ model: "m", max_tokens: 9 },
      messages: [{ role: "user", content: [{ type: "text", text: content }] }],
    }),
    whole: (text: string) => ({
      ...{ id: "m", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
      ...{ content: [{ type: "text", text }], usage: {} },
    }),
    events: (pieces: readonly string[]) => [
      { type: "message_start", message: { id: "m", role: "assistant", content: [] } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...pieces.map((text) => ({
        ...{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      })),
      { type: "content_block_stop", index: 0 },
      { type: "message_stop" },
    ],
  },
  responses: {
    path: "/v1/responses",
    request: (input: string) => ({ model: "m", input }),
    whole: (text: string) => ({
      ...{ id: "r", object: "response", status: "completed", model: "m" },
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }],
    }),
    events: (pieces: readonly string[]) => [
      ...pieces.map((delta) => ({
        ...{ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0 },
        delta,
      })),
      { type: "response.completed", response: { id: "r", object: "response", output: [] } },
    ],
  },
} as const;

beforeAll(async () => {
  provider = await startScripted((answer) => {
    answer.writeHead(200, { "content-type": next.type }).end(next.body);
  }, "anything");
  const rules = cases.map(([{ word }]) => ({ pattern: word }));
  const guard = {
    regex: { action: "reject", rules },
    response: { message: "That word is not said here.", statusCode: 422 },
  };
  const guards = { request: { request: [guard] }, response: { response: [guard] } };
  gateway = await startGateway({
    listeners: [
      {
        routes: Object.entries({ openai: { openAI: {} }, anthropic: { anthropic: {} } }).flatMap(
          ([name, kind]) =>
            Object.entries(guards).map(([phase, promptGuard]) => ({
              name: `${name}-${phase}`,
              matches: [{ path: { pathPrefix: `/${phase}/${name}` } }],
              policies: { ai: { routes: everyFormat, promptGuard } },
              backends: [{ ai: { provider: kind, hostOverride: provider.host } }],
            })),
        ),
      },
    ],
  });
});

const urlOf = (phase: string, name: string, path: string) =>
  `${gateway.url}/${phase}/${name === "messages" ? "anthropic" : "openai"}${path}`;

it.each(Object.entries(formats))(
  "%s: a word that is refused is refused in every disguise",
  async (name, format) => {
    for (const [{ word, disguise }, places] of cases) {
      const about = JSON.stringify([word, disguise, places]);
      const asked = provider.received.length;
      const request = await fetch(urlOf("request", name, format.path), {
        ...sent,
        body: JSON.stringify(format.request(`Tell me: ${disguise} !`)),
      });
      expect([request.status, provider.received.length], about).toEqual([422, asked]);
      const body = JSON.stringify(format.request("Hello"));
      next = { type: "application/json", body: JSON.stringify(format.whole(`So: ${disguise} !`)) };
      const whole = await fetch(urlOf("response", name, format.path), { ...sent, body });
      expect(whole.status, about).toBe(422);
      const events = format.events(cut(`So: ${disguise} !`, places));
      const written = events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
      next = { type: "text/event-stream", body: `${written}data: [DONE]\n\n` };
      const streamed = await fetch(urlOf("response", name, format.path), {
        ...sent,
        body: JSON.stringify({ ...format.request("Hello"), stream: true }),
      });
      expect(await streamed.text(), about).toContain("That word is not said here.");
    }
  },
);
