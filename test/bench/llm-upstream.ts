import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

// A provider that speaks OpenAI's chat completions and responses, and Anthropic's messages: a completion of 1 KB, or a stream of 100
// pieces, each in a write of its own. Prints its port.

const content = "word ".repeat(200);
const usage = { prompt_tokens: 500, completion_tokens: 200, total_tokens: 700 };
const message = { role: "assistant", content, refusal: null };
const completion = JSON.stringify({
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "gpt-5" },
  ...{ choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }], usage },
});
const head = { id: "msg_1", type: "message", role: "assistant", model: "claude-5" };
const stop = { stop_reason: "end_turn", stop_sequence: null };
const tokens = { input_tokens: 500, output_tokens: 200 };
const whole = JSON.stringify({
  ...head,
  ...{ content: [{ type: "text", text: content }], ...stop, usage: tokens },
});

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-5" },
    ...{ system_fingerprint: "fp_1", choices: [{ index: 0, delta, finish_reason: finish }] },
  })}\n\n`;
const event = (value: { readonly type: string }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

const pieces = Array.from({ length: 100 }, (_, index) => ` word ${index}`);
const chunks = [
  chunk({ role: "assistant", content: "" }, null),
  ...pieces.map((text) => chunk({ content: text }, null)),
  chunk({}, "stop"),
  "data: [DONE]\n\n",
];
const events = [
  event({ type: "message_start", ...{ message: { ...head, content: [], usage: tokens } } }),
  event({
    type: "content_block_start",
    ...{ index: 0, content_block: { type: "text", text: "" } },
  }),
  ...pieces.map((text) =>
    event({ type: "content_block_delta", ...{ index: 0, delta: { type: "text_delta", text } } }),
  ),
  event({ type: "content_block_stop", ...{ index: 0 } }),
  event({ type: "message_delta", ...{ delta: stop, usage: tokens } }),
  event({ type: "message_stop" }),
];

const item = { id: "msg_1", type: "message", role: "assistant" };
const textPart = { type: "output_text", text: content, annotations: [], logprobs: [] };
const output = [{ ...item, status: "completed", content: [textPart] }];
const response = {
  ...{
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "gpt-5",
    output,
  },
  usage: { input_tokens: 500, output_tokens: 200, total_tokens: 700 },
};
const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
const numbered = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
  { type: "response.content_part.added", ...place, part: { ...textPart, text: "" } },
  ...pieces.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
  { type: "response.output_text.done", ...place, text: content, logprobs: [] },
  { type: "response.content_part.done", ...place, part: textPart },
  { type: "response.output_item.done", output_index: 0, item: output[0] },
  { type: "response.completed", response },
].map(({ type, ...fields }, sequence_number) => event({ type, ...{ sequence_number, ...fields } }));

/** Responses by the last part of their paths: whole, and as the events of a stream. */
const apis: Readonly<Record<string, readonly [whole: string, events: readonly string[]]>> = {
  messages: [whole, events],
  responses: [JSON.stringify(response), numbered],
  completions: [completion, chunks],
};

const server = createServer(async (request, reply) => {
  const api = request.url?.split("/").at(-1) ?? "";
  const [body, parts] = apis[api] ?? [completion, chunks];
  const { stream } = (await json(request)) as { readonly stream?: boolean };
  if (stream === true) {
    reply.writeHead(200, { "content-type": "text/event-stream" });
    write(reply, parts, 0);
    return;
  }
  reply.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  reply.end(body);
});

function write(response: ServerResponse, all: readonly string[], index: number): void {
  if (index === all.length) {
    response.end();
    return;
  }
  response.write(all[index]);
  setImmediate(() => write(response, all, index + 1));
}

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`listening on 127.0.0.1:${address.port}\n`);
  }
});
