import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { json, readForm } from "./media-upstream.ts";

const SECRET = "ann@example.com";

/** A completion of the results. */
function completion(id: string, text: string): object {
  const message = { role: "assistant", content: text };
  const body = {
    ...{ id: "c", object: "chat.completion", model: "gpt-5-mini" },
    ...{ choices: [{ index: 0, message, finish_reason: "stop" }] },
    usage: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 },
  };
  return { id: "r", custom_id: id, response: { status_code: 200, body }, error: null };
}

const results = [
  completion("a", `Write to ${SECRET}.`),
  completion("b", "Nothing."),
  completion("c", "bomb"),
];
const lines = results.map((each) => JSON.stringify(each)).join("\n");
const messageLine = {
  custom_id: "a",
  result: {
    type: "succeeded",
    message: {
      ...{ id: "m", type: "message", role: "assistant", model: "claude-haiku-4-5" },
      ...{ stop_reason: "end_turn", content: [{ type: "text", text: `At ${SECRET}` }] },
      usage: { input_tokens: 4, output_tokens: 6 },
    },
  },
};

let store: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  store = await startScripted((response, _, { url, method }) => {
    const batch = { id: "batch_1", object: "batch", status: "completed", input_file_id: "file-IN" };
    if (url === "/v1/files") json(response, { id: "file-IN", object: "file" });
    else if (url === "/v1/batches") json(response, { ...batch, output_file_id: `file-OUT` });
    else if (url.startsWith("/v1/files/file-OUT/content")) {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(`${lines}\n`));
    } else if (url.endsWith("/results")) response.end(`${JSON.stringify(messageLine)}\n`);
    else if (url.startsWith("/v1/messages/batches")) {
      json(response, { id: "msgbatch_1", type: "message_batch", results_url: "https://x.test/r" });
    } else json(response, { error: { message: `no ${method} ${url}` } }, 404);
  }, "anything");
  const params = { apiKey: "${KEY}", hostOverride: store.host };
  const mask = { regex: { rules: [{ builtin: "email" }], action: "mask" } };
  const reject = { regex: { rules: [{ pattern: "bomb" }], action: "reject" } };
  gateway = await startGateway({
    env: { KEY: "provider-key", ANN: "ann-key", SESSION_KEY: "ab".repeat(32) },
    config: {
      llm: {
        port: await freePort(),
        apis: ["batches"],
        policies: {
          apiKey: { keys: [{ key: "${ANN}", metadata: { name: "ann" } }] },
          guardrails: { request: [mask, reject], response: [mask, reject] },
        },
        models: [
          { name: "small", provider: "openAI", params: { ...params, model: "gpt-5-mini" } },
          {
            name: "claude",
            provider: "anthropic",
            params: { ...params, model: "claude-haiku-4-5" },
          },
        ],
      },
    },
  });
});

function openai(): OpenAI {
  return new OpenAI({ apiKey: "ann-key", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

async function upload(content: string) {
  const body = { model: "small", messages: [{ role: "user", content }] };
  const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body };
  const file = await toFile(Buffer.from(JSON.stringify(line)), "b.jsonl");
  return openai().files.create({ file, purpose: "batch" });
}

async function download(): Promise<string> {
  const { id } = await upload("Hello");
  const batch = await openai().batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return (await openai().files.content(batch.output_file_id ?? "")).text();
}

it("guards read the requests of a batch", async () => {
  await upload(`Write to ${SECRET}`);
  const received = store.received.at(-1);
  const content = received && (await readForm(received)).files.file?.toString();
  expect(content).not.toContain(SECRET);
  expect(content).toContain("<EMAIL_ADDRESS>");
  const before = store.received.length;
  await expect(upload("a bomb")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("line 1"),
  });
  expect(store.received).toHaveLength(before);
});

it("guards read the responses of a batch, and their output is charged once", async () => {
  const [first, second, third, end] = (await download()).split("\n");
  expect(JSON.parse(first ?? "").response.body.choices[0].message.content).toBe(
    "Write to <EMAIL_ADDRESS>.",
  );
  expect(second).toBe(JSON.stringify(results[1]));
  expect(JSON.parse(third ?? "")).toMatchObject({
    custom_id: "c",
    response: null,
    error: { code: "content_policy_violation" },
  });
  expect(end).toBe("");
  await gateway.seen(/path=\/v1\/files\/file-\S+\/content .*gen_ai\.usage\.output_tokens=90/);
  await gateway.seen(/operation\.name=files .*gen_ai\.cost=/);
  await download();
  const charged = gateway.output.match(/gen_ai\.usage\.output_tokens=90/g);
  expect(charged).toHaveLength(1);
});

it("a part of the results cannot be requested", async () => {
  const { id } = await upload("Hello");
  const batch = await openai().batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  const headers = { range: "bytes=40-" };
  const content = await openai().files.content(batch.output_file_id ?? "", { headers });
  expect((await content.text()).split("\n")).toHaveLength(4);
  const asked = store.received.findLast(({ url }) => url.endsWith("/content"));
  expect(asked?.headers["accept-encoding"]).toBe("identity");
  expect(asked?.headers).not.toHaveProperty("range");
});

it("guards read the results of batches of messages", async () => {
  const client = new Anthropic({ apiKey: "ann-key", baseURL: gateway.url, maxRetries: 0 });
  const params = {
    ...{ model: "claude", max_tokens: 5 },
    messages: [{ role: "user" as const, content: `I am ${SECRET}` }],
  };
  const batch = await client.messages.batches.create({ requests: [{ custom_id: "a", params }] });
  const sent = store.received.at(-1)?.body.toString() ?? "";
  expect(sent).toContain("<EMAIL_ADDRESS>");
  const texts: string[] = [];
  for await (const { result } of await client.messages.batches.results(batch.id)) {
    const [block] = result.type === "succeeded" ? result.message.content : [];
    if (block?.type === "text") texts.push(block.text);
  }
  expect(texts).toEqual(["At <EMAIL_ADDRESS>"]);
  await gateway.seen(/messages\/batches\/\S+\/results .*gen_ai\.usage\.output_tokens=6/);
});
