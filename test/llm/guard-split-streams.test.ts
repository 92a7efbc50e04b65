import { beforeAll, describe, expect, it } from "vitest";
import { AwsEventReader } from "../../runtime/http/body/aws-event-stream.ts";
import { everyFormat } from "../harness/ai-gateway.ts";
import { converseStream } from "../harness/bedrock.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";

/** A provider's stream: objects are the data of events, which are named by their type. */
type Events = readonly object[];

const mail = "ann@example.com";
const chunk = (choice: object) => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
});
const delta = (members: object) => chunk({ delta: members });
const list = (text: string) => ({ content: [{ type: "text", text }] });

const start = (index: number, block: object) => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const text = (index: number, said: string) => ({
  type: "content_block_delta",
  index,
  delta: { type: "text_delta", text: said },
});
const stop = (index: number) => ({ type: "content_block_stop", index });
const block = (index: number, said: string) => [
  start(index, { type: "text", text: "" }),
  text(index, said),
  stop(index),
];
const tool = { type: "tool_use", id: "t", name: "look", input: {} };
const messageEnd = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];
const messageStart = {
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", content: [], model: "m", usage: {} },
};

const place = (output_index: number, content_index: number) => ({
  item_id: `i${output_index}`,
  output_index,
  content_index,
});
const part = (output: number, content: number, said: string) => [
  { type: "response.output_text.delta", ...place(output, content), delta: said },
  { type: "response.output_text.done", ...place(output, content), text: said },
];
const message = (...texts: string[]) => ({
  type: "message",
  role: "assistant",
  content: texts.map((each) => ({ type: "output_text", text: each })),
});
const completed = (...output: object[]) => ({
  type: "response.completed",
  response: { id: "r", object: "response", output },
});

const completions: Readonly<Record<string, Events>> = {
  "strings next to deltas": [chunk({ text: "Mail ann@exam" }), chunk({ text: "ple.com!" })],
  "lists of contents": [delta(list("Mail ann@exam")), delta(list("ple.com!"))],
  "one list of contents": [
    delta({ content: [...list("Mail ann@exam").content, ...list("ple.com!").content] }),
  ],
  "a list and a text": [delta(list("Mail ann@exam")), delta({ content: "ple.com!" })],
  "what a voice says": [
    delta({ audio: { id: "a", transcript: "Mail ann@exam" } }),
    delta({ audio: { transcript: "ple.com!" } }),
  ],
  "members that the API does not know": [
    delta({ notes: [{ text: "Mail ann@exam" }] }),
    delta({ notes: [{ text: "ple.com!" }] }),
  ],
  "arguments of a function": [
    delta({ function_call: { name: "f", arguments: '{"to":"Mail ann@exam' } }),
    delta({ function_call: { arguments: 'ple.com!"}' } }),
  ],
  "the end of a choice": [
    delta({ content: "Mail ann@exam" }),
    chunk({ finish_reason: "stop" }),
    delta({ content: "ple.com!" }),
  ],
  "chunks that are all the last": [
    chunk({ delta: { content: "Mail ann@exam" }, finish_reason: "stop" }),
    chunk({ delta: { content: "ple.com!" }, finish_reason: "stop" }),
  ],
};

const messages: Readonly<Record<string, Events>> = {
  "two blocks": [...block(0, "Mail ann@exam"), ...block(1, "ple.com!")],
  "five blocks": ["Mail an", "n@ex", "am", "ple.co", "m!"].flatMap((said, at) => block(at, said)),
  "blocks that begin with texts": [
    start(0, { type: "text", text: "Mail ann@exam" }),
    stop(0),
    start(1, { type: "text", text: "ple.com!" }),
    stop(1),
  ],
  "a block that does not end": [
    ...block(0, "Mail ann@exam").slice(0, 2),
    ...block(1, "ple.com!"),
    stop(0),
  ],
};

const responses: Readonly<Record<string, Events>> = {
  "two parts": [
    ...part(0, 0, "Mail ann@exam"),
    ...part(0, 1, "ple.com!"),
    completed(message("Mail ann@exam", "ple.com!")),
  ],
  "two items": [
    ...part(0, 0, "Mail ann@exam"),
    { type: "response.output_item.done", output_index: 0, item: message("Mail ann@exam") },
    { type: "response.output_item.added", output_index: 1, item: message() },
    ...part(1, 0, "ple.com!"),
    completed(message("Mail ann@exam"), message("ple.com!")),
  ],
};

const candidate = (members: object) => ({ candidates: [{ index: 0, ...members }] });
const parts = (...all: object[]) => candidate({ content: { role: "model", parts: all } });
const call = { functionCall: { name: "look", args: { a: 1 } } };

const contents: Readonly<Record<string, Events>> = {
  "two events": [parts({ text: "Mail ann@exam" }), parts({ text: "ple.com!" })],
  "two parts of one event": [parts({ text: "Mail ann@exam" }, { text: "ple.com!" })],
  thoughts: [
    parts({ text: "Mail ann@exam", thought: true }),
    parts({ text: "ple.com!", thought: true }),
  ],
  "a part with a signature": [
    parts({ text: "Mail ann@exam", thoughtSignature: "c2ln" }),
    parts({ text: "ple.com!" }),
  ],
  "an event that is the last": [
    {
      candidates: [
        {
          content: { role: "model", parts: [{ text: "Mail ann@exam" }] },
          finishReason: "STOP",
        },
      ],
    },
    parts({ text: "ple.com!" }),
  ],
  "arguments that arrive in pieces": [
    parts({
      functionCall: {
        name: "f",
        partialArgs: [{ jsonPath: "$.to", stringValue: `Mail ${mail}!` }],
      },
    }),
  ],
  "arguments of a function": [
    parts({ functionCall: { name: "f", args: { to: `Mail ${mail}!`, [mail]: 1 } } }),
  ],
};

const converseBlock = (contentBlockIndex: number, ...deltas: object[]) => [
  ...deltas.map((each) => ({ contentBlockDelta: { contentBlockIndex, delta: each } })),
  { contentBlockStop: { contentBlockIndex } },
];
const converseCall = (contentBlockIndex: number, ...inputs: string[]) => [
  {
    contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: "t", name: "look" } } },
  },
  ...converseBlock(contentBlockIndex, ...inputs.map((input) => ({ toolUse: { input } }))),
];

const converse: Readonly<Record<string, Events>> = {
  "two deltas": converseBlock(0, { text: "Mail ann@exam" }, { text: "ple.com!" }),
  "two blocks": [
    ...converseBlock(0, { text: "Mail ann@exam" }),
    ...converseBlock(1, { text: "ple.com!" }),
  ],
  "five blocks": ["Mail an", "n@ex", "am", "ple.co", "m!"].flatMap((said, at) =>
    converseBlock(at, { text: said }),
  ),
  reasoning: converseBlock(
    0,
    { reasoningContent: { text: "Mail ann@exam" } },
    { reasoningContent: { text: "ple.com!" } },
    { reasoningContent: { signature: "c2ln" } },
  ),
  "the input of a tool": converseCall(0, '{"to":"Mail ann@exam', 'ple.com!"}'),
};

const formats = {
  completions: { path: "/openai/v1/chat/completions", streams: completions, last: "[DONE]" },
  messages: { path: "/anthropic/v1/messages", streams: messages, last: "message_stop" },
  responses: { path: "/openai/v1/responses", streams: responses, last: "response.completed" },
  generateContent: {
    path: "/gemini/v1beta/models/m:streamGenerateContent?alt=sse",
    streams: contents,
    last: "finishReason",
  },
  converse: { path: "/bedrock/model/m/converse-stream", streams: converse, last: "metadata" },
} as const;

let gateway: Gateway;
/** The provider's next stream. */
let next: string | Buffer = "";

beforeAll(async () => {
  const provider = await startScripted((response) => {
    const type =
      typeof next === "string" ? "text/event-stream" : "application/vnd.amazon.eventstream";
    response.writeHead(200, { "content-type": type }).end(next);
  }, "anything");
  const regex = { rules: [{ builtin: "email" }] };
  const kinds = {
    mask: { regex },
    reject: {
      regex: { ...regex, action: "reject" },
      response: { message: "No contacts, please." },
    },
  };
  const providers = {
    openai: { openAI: {} },
    anthropic: { anthropic: {} },
    gemini: { gemini: {} },
    bedrock: { bedrock: {} },
  };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(providers).flatMap(([name, kind]) =>
          Object.entries(kinds).map(([action, guard]) => ({
            name: `${name}-${action}`,
            matches: [{ path: { pathPrefix: `/${action}/${name}` } }],
            policies: {
              backendAuth: { key: "${KEY}" },
              ai: {
                routes: everyFormat,
                promptGuard: { response: [guard] },
              },
            },
            backends: [{ ai: { provider: kind, hostOverride: provider.host } }],
          })),
        ),
      },
    ],
  });
});

/** The stream that a client gets of events. */
async function streamed(name: keyof typeof formats, action: string, events: Events) {
  const { path } = formats[name];
  const written = events.map((event) => {
    const type = "type" in event ? `event: ${event.type}\n` : "";
    return `${type}data: ${JSON.stringify(event)}\n\n`;
  });
  const isConverse = name === "converse";
  const end = name === "completions" ? "data: [DONE]\n\n" : "";
  next = isConverse ? converseStream(events as never) : written.join("") + end;
  const said = [{ role: "user", content: "Hello" }];
  const body = { model: "m", stream: true, max_tokens: 9, messages: said };
  const bodies = {
    ...{ completions: body, messages: body },
    responses: { model: "m", stream: true, input: said },
    generateContent: { contents: [{ parts: [{ text: "Hello" }] }] },
    converse: { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
  };
  const response = await fetch(`${gateway.url}/${action}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodies[name]),
  });
  // Errors before a stream are JSON.
  if (name !== "converse" || !response.ok) return response.text();
  const frames = new AwsEventReader(65_536).push(Buffer.from(await response.arrayBuffer()));
  return frames
    .map(({ headers, payload }) => {
      const type = headers.get(":event-type") ?? headers.get(":exception-type");
      return `data: {"${type}":${payload}}\n\n`;
    })
    .join("");
}

const converseEnd = [
  { messageStop: { stopReason: "end_turn" } },
  { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
];

const withEnds = (name: keyof typeof formats, events: Events): Events => {
  if (name === "converse") return [...events, ...converseEnd];
  if (name === "generateContent") return [...events, candidate({ finishReason: "STOP" })];
  return name === "messages" ? [messageStart, ...events, ...messageEnd] : events;
};

describe.each(Object.keys(formats) as (keyof typeof formats)[])("%s: a match over", (name) => {
  const { streams, last } = formats[name];

  it.each(Object.entries(streams))("%s is masked, and rejected", async (_, events) => {
    const masked = await streamed(name, "mask", withEnds(name, events));
    expect(masked).toContain("Mail ");
    expect(masked).toContain("<EMAIL_ADDRESS>");
    expect(masked).toContain("!");
    expect(masked).not.toMatch(/ann|@ex|ple\.co/);
    expect(masked.indexOf("!")).toBeGreaterThan(masked.indexOf("<EMAIL_ADDRESS>"));
    expect(masked.slice(masked.lastIndexOf("data: "))).toContain(last);
    const rejected = await streamed(name, "reject", withEnds(name, events));
    expect(rejected).toContain("No contacts, please.");
    expect(rejected).not.toMatch(/ann@|@exam|ple\.co/);
  });
});

it("events that wait for the next block keep their order", async () => {
  const events = [...block(0, "Mail ann@exam"), ...block(1, "ine it.")];
  const read = (await streamed("messages", "mask", withEnds("messages", events)))
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));
  const order = read.map(({ type, index }) => `${type} ${index ?? ""}`.trim());
  expect(order.filter((each, at) => each !== order[at - 1])).toEqual([
    "message_start",
    ...["content_block_start 0", "content_block_delta 0", "content_block_stop 0"],
    ...["content_block_start 1", "content_block_delta 1", "content_block_stop 1"],
    ...["message_delta", "message_stop"],
  ]);
  const said = (index: number) =>
    read.map((each) => (each.index === index ? (each.delta?.text ?? "") : "")).join("");
  expect([said(0), said(1)]).toEqual(["Mail ann@exam", "ine it."]);
});

it("members that say something else each time stay whole in their chunks", async () => {
  const events = [
    delta({ content: "Hi.", source: { title: "Annual report" } }),
    delta({ source: { title: `Mail ${mail}` } }),
    chunk({ finish_reason: "stop", native_finish_reason: "end_turn" }),
  ];
  const masked = await streamed("completions", "mask", events);
  expect(masked).toContain('"source":{"title":"Annual report"}');
  expect(masked).toMatch(/"source":\{"title":"[^"]* <EMAIL_ADDRESS>"\}/);
  expect(masked).toContain('"native_finish_reason":"end_turn"');
});

it.each<[keyof typeof formats, Events]>([
  [
    "messages",
    [...block(0, `Mail ${mail}, ann@exam`), start(1, tool), stop(1), ...block(2, "ple.com!")],
  ],
  [
    "completions",
    [
      delta({ content: `Mail ${mail}, ann@exam` }),
      delta({ reasoning_content: "Hm." }),
      delta({ content: "ple.com!" }),
    ],
  ],
  [
    "converse",
    [
      ...converseBlock(0, { text: `Mail ${mail}, ann@exam` }),
      ...converseCall(1, "{}"),
      ...converseBlock(2, { text: "ple.com!" }),
    ],
  ],
  [
    "generateContent",
    [parts({ text: `Mail ${mail}, ann@exam` }), parts(call), parts({ text: "ple.com!" })],
  ],
])("%s: what another text comes after does not wait; the rest is masked", async (name, events) => {
  const masked = await streamed(name, "mask", withEnds(name, events));
  expect(masked).toContain("<EMAIL_ADDRESS>");
  expect(masked).not.toMatch(/@example|ple\.com/);
  const rejected = await streamed(name, "reject", withEnds(name, events));
  expect(rejected).toContain("No contacts, please.");
});
