import type { ServerResponse } from "node:http";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import OpenAI, { toFile as toOpenAiFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { startCallersGateway } from "./callers-gateway.ts";
import { json, readForm } from "./media-upstream.ts";
import { messagesUpstream } from "./table/messages-upstream.ts";

const FILE = "file_RAW123";
const BETA = "files-api-2025-04-14";
const SAID = "A cat.";

/** Anthropic with one file: it refuses requests without its key, its version, or the beta of files. */
function startAnthropic(): Promise<Scripted> {
  return startScripted((response, _count, request) => {
    const problem = problemOf(request);
    if (problem !== undefined) refuse(response, problem);
    else if (request.url.startsWith("/v1/files")) serveFiles(response, request);
    else if (request.url.includes("/batches")) serveBatch(response, request);
    else if (request.url.includes("count_tokens")) json(response, { input_tokens: 7 });
    else if (request.body.includes("Fail at once.")) failAtOnce(response);
    else if (request.body.includes("code_execution_2")) runCode(response, request);
    else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(messagesUpstream.whole({ text: SAID, reasoning: "", calls: [] }));
    }
  }, "anything");
}

function problemOf({ headers, body, url }: Received): string | undefined {
  if (headers["x-api-key"] !== "provider-key") return "invalid x-api-key";
  if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
  const namesFile = url.startsWith("/v1/files") || body.includes('"file_id"');
  const betas = String(headers["anthropic-beta"]);
  return namesFile && !betas.includes(BETA) ? `${BETA} is required` : undefined;
}

function serveFiles(response: ServerResponse, { url, method }: Received): void {
  const [path] = url.split("?");
  const file = {
    ...{ id: FILE, type: "file", filename: "a.pdf", mime_type: "application/pdf" },
    ...{ size_bytes: 4, created_at: "2026-01-01T00:00:00Z", downloadable: true },
  };
  if (path === "/v1/files" && method === "POST") json(response, file);
  else if (path === `/v1/files/${FILE}/content`) response.end("%PDF");
  else if (path !== `/v1/files/${FILE}`) refuse(response, "no such file", 404);
  else if (method === "DELETE") json(response, { id: FILE, type: "file_deleted" });
  else json(response, file);
}

const WRITTEN = {
  ...{ type: "bash_code_execution_tool_result" as const, tool_use_id: "srvtoolu_1" },
  content: {
    ...{ type: "bash_code_execution_result" as const, stdout: "file_id", stderr: "" },
    return_code: 0,
    content: [{ type: "bash_code_execution_output" as const, file_id: FILE }],
  },
};

/** Answers as if a program had written the file; the answer is longer than what is sent in one write. */
function runCode(response: ServerResponse, { body }: Received): void {
  const long = { type: "text", text: `file_id\u2028data: {${"x".repeat(100_000)}` };
  const head = { id: "m", type: "message", role: "assistant", model: "m" };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { ...head, stop_reason: "end_turn", usage };
  if (JSON.parse(body.toString()).stream !== true) {
    json(response, { ...message, content: [long, WRITTEN] });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const block = (index: number, content_block: object) => [
    { type: "content_block_start", index, content_block },
    { type: "content_block_stop", index },
  ];
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...[...block(0, long), ...block(1, WRITTEN)],
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ];
  const parts = events.map(
    (event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`,
  );
  response.end(parts.join(""));
}

const OVERLOADED = '{"type":"error", "error":{"type":"overloaded_error","message":"Full.","a":1}}';

function failAtOnce(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`event: error\ndata: ${OVERLOADED}\n\n`);
}

/** A batch with one result, whose program has written the file. */
function serveBatch(response: ServerResponse, { url }: Received): void {
  const batch = { id: "msgbatch_RAW", type: "message_batch", processing_status: "ended" };
  if (!url.endsWith("/results")) {
    json(response, { ...batch, results_url: `${url}/msgbatch_RAW/results` });
    return;
  }
  const message = { id: "m", type: "message", content: [WRITTEN] };
  const result = { custom_id: "a", result: { type: "succeeded", message } };
  response.end(`${JSON.stringify(result)}\n`);
}

function refuse(response: ServerResponse, message: string, status = 400): void {
  json(response, { type: "error", error: { type: "invalid_request_error", message } }, status);
}

let upstream: Scripted;
let openai: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startAnthropic();
  openai = await startScripted((response) => {
    json(response, { id: "file-RAW", object: "file", purpose: "user_data" });
  }, "anything");
  const params = { apiKey: "${KEY}", hostOverride: upstream.host };
  const small = { name: "small", provider: "anthropic" };
  const guarded = await startScripted(() => {}, "anything");
  const guard = { request: [{ regex: { action: "reject", rules: [{ builtin: "email" }] } }] };
  gateway = await startCallersGateway({
    models: [
      { ...small, params: { ...params, model: "claude-haiku-4-5" } },
      { name: "claude-*", provider: "anthropic", params },
      { name: "gpt", provider: "openAI", params: { ...params, hostOverride: openai.host } },
      {
        name: "guarded",
        provider: "anthropic",
        guardrails: guard,
        params: { ...params, hostOverride: guarded.host },
      },
    ],
  });
});

function clientOf(apiKey: string): Anthropic {
  return new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
}

async function upload(apiKey: string, more: object = { model: "small" }): Promise<string> {
  const file = await toFile(Buffer.from("%PDF"), "a.pdf", { type: "application/pdf" });
  const { id } = await clientOf(apiKey).beta.files.upload({ file, betas: [BETA], ...more });
  return id;
}

type Message = Anthropic.Beta.MessageCreateParamsNonStreaming;

function question(
  id: string,
  model = "small",
  blocks: Anthropic.Beta.BetaContentBlockParam[] = [],
): Message {
  const source = { type: "file" as const, file_id: id };
  return {
    ...{ model, max_tokens: 10, betas: [BETA] },
    messages: [
      ...(blocks.length > 0 ? [{ role: "assistant" as const, content: blocks }] : []),
      {
        role: "user",
        content: [
          { type: "document", source, title: "a" },
          { type: "image", source },
          { type: "container_upload", file_id: id },
          { type: "text", text: "What is it?" },
        ],
      },
    ],
  };
}

const lastBody = () => JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");

describe("a file of Anthropic", () => {
  it("is stored at the provider of the model that its form names", async () => {
    const id = await upload("ann-key");
    expect(id).toMatch(/^file_/);
    expect(id).not.toContain("RAW");
    const sent = upstream.received.at(-1);
    if (sent === undefined) throw new Error("the provider got no file");
    expect(sent.url).toBe("/v1/files");
    expect((await readForm(sent)).fields).toEqual({ file: "file" });
  });

  it("is named by its id in messages, and in counts of their tokens", async () => {
    const id = await upload("ann-key");
    const client = clientOf("ann-key");
    const { content } = await client.beta.messages.create(question(id));
    expect(content).toMatchObject([{ type: "text", text: SAID }]);
    const { messages } = question(FILE);
    expect(lastBody().messages).toEqual(messages);
    const counted = { model: "claude-opus-4-1", messages, betas: [BETA] };
    const asked = { ...counted, messages: question(id).messages };
    expect((await client.beta.messages.countTokens(asked)).input_tokens).toBe(7);
    expect(lastBody().messages).toEqual(messages);
  });

  it("is described, downloaded and deleted by its owner only", async () => {
    const id = await upload("ann-key");
    const { files } = clientOf("ann-key").beta;
    const betas = [BETA];
    expect(await files.retrieveMetadata(id, { betas })).toMatchObject({ id, filename: "a.pdf" });
    expect(await (await files.download(id, { betas })).text()).toBe("%PDF");
    expect(await files.delete(id, { betas })).toEqual({ id, type: "file_deleted" });
    const others = clientOf("bob-key").beta.files;
    const missing = { status: 404, error: { type: "error", error: { type: "not_found_error" } } };
    await expect(others.retrieveMetadata(id, { betas })).rejects.toMatchObject(missing);
    await expect(others.download(id, { betas })).rejects.toMatchObject(missing);
    await expect(others.delete(id, { betas })).rejects.toMatchObject(missing);
    await expect(files.retrieveMetadata(FILE, { betas })).rejects.toMatchObject(missing);
    await expect(files.list({ betas })).rejects.toThrow(/does not list files/);
  });

  it("is not read by an id of another caller, or by the provider's own", async () => {
    const id = await upload("bob-key");
    const before = upstream.received.length;
    for (const other of [id, FILE]) {
      const ask = clientOf("ann-key").beta.messages.create(question(other));
      await expect(ask).rejects.toMatchObject({ status: 404, message: /no such file/ });
    }
    expect(upstream.received).toHaveLength(before);
  });

  it.each([false, true])(
    "is what a program has written, for its caller only (stream: %s)",
    async (isStream) => {
      const { beta } = clientOf("ann-key");
      const tools = [{ type: "code_execution_20250825" as const, name: "code_execution" as const }];
      const asked = { ...question(await upload("ann-key")), tools };
      const { content } = await (isStream
        ? beta.messages.stream(asked).finalMessage()
        : beta.messages.create(asked));
      expect(content[0]).toMatchObject({ type: "text", text: /^file_id\u2028data: \{x+$/ });
      const result = content[1];
      if (result?.type !== "bash_code_execution_tool_result") throw new Error("no result");
      if (result.content.type !== "bash_code_execution_result") throw new Error("no output");
      const [output] = result.content.content;
      const id = output?.file_id ?? "";
      expect(id).toMatch(/^file_/);
      expect(id).not.toBe(FILE);
      const betas = [BETA];
      expect(await (await beta.files.download(id, { betas })).text()).toBe("%PDF");
      await expect(clientOf("bob-key").beta.files.download(id, { betas })).rejects.toMatchObject({
        status: 404,
      });
      // The provider knows its own id in the turns that follow, and in files of the client.
      await beta.messages.create(question(id, "small", [{ ...WRITTEN, content: result.content }]));
      expect(lastBody().messages).toEqual(question(FILE, "small", [WRITTEN]).messages);
    },
  );

  it("does not hide the error of a stream that has no file yet", async () => {
    const tools = [{ type: "code_execution_20250825", name: "code_execution" }];
    const messages = [{ role: "user", content: "Fail at once." }];
    const response = await send(
      `${gateway.url}/v1/messages`,
      "POST",
      { authorization: "Bearer ann-key", "anthropic-version": "2023-06-01" },
      JSON.stringify({ model: "small", max_tokens: 9, stream: true, tools, messages }),
    );
    expect(response).toMatchObject({ status: 529, body: OVERLOADED });
  });

  it("is what a program of a batch has written, for its caller only", async () => {
    const { messages, beta } = clientOf("ann-key");
    const messagesOfOne = [{ role: "user" as const, content: "Hi" }];
    const params = { model: "small", max_tokens: 9, messages: messagesOfOne };
    const { id } = await messages.batches.create({ requests: [{ custom_id: "a", params }] });
    const results: object[] = [];
    for await (const each of await messages.batches.results(id)) results.push(each);
    const [, file = ""] = /"file_id":"([^"]+)"/.exec(JSON.stringify(results)) ?? [];
    expect(file).not.toBe(FILE);
    const betas = [BETA];
    expect(await (await beta.files.download(file, { betas })).text()).toBe("%PDF");
  });

  it("may be an argument of a tool, and what a program has written, by any id", async () => {
    const id = await upload("ann-key");
    const blocks: Anthropic.Beta.BetaContentBlockParam[] = [
      { type: "tool_use", id: "toolu_1", name: "open", input: { file_id: "mine" } },
      {
        ...{ type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_1" },
        content: {
          ...{ type: "bash_code_execution_result", stdout: "", stderr: "", return_code: 0 },
          content: [{ type: "bash_code_execution_output", file_id: "file_OUT" }],
        },
      },
    ];
    await clientOf("ann-key").beta.messages.create(question(id, "small", blocks));
    expect(lastBody().messages).toEqual(question(FILE, "small", blocks).messages);
  });

  it("is refused for a model of another API", async () => {
    const ask = clientOf("ann-key").beta.messages.create(question(await upload("ann-key"), "gpt"));
    await expect(ask).rejects.toMatchObject({
      status: 400,
      message: /source.file_id.*not supported/,
    });
  });

  it.each([
    [{}, /is missing: its provider stores the object/],
    [{ model: "gpt" }, /has no files/],
    [{ model: "guarded" }, /guards, which cannot read files/],
  ])("is refused without a store: %j", async (more, problem) => {
    await expect(upload("ann-key", more)).rejects.toThrow(problem);
  });

  it("has a path that OpenAI's clients use, too", async () => {
    const client = new OpenAI({ apiKey: "ann-key", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const file = await toOpenAiFile(Buffer.from("%PDF"), "a.pdf");
    const { id } = await client.files.create({ file, purpose: "user_data" });
    expect(id).toMatch(/^file-/);
    expect(openai.received.at(-1)).toMatchObject({ url: "/v1/files" });
    await expect(client.files.retrieve(await upload("ann-key"))).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe("a file of a client with a key of its own", () => {
  it("needs no model if all models have the same provider", async () => {
    const params = { hostOverride: upstream.host };
    const own = await startGateway({
      env: { SESSION_KEY: "ab".repeat(32) },
      config: {
        llm: {
          port: await freePort(),
          apis: ["batches"],
          models: [
            { name: "claude-haiku-*", provider: "anthropic", params },
            { name: "claude-opus-*", provider: "anthropic", params },
          ],
        },
      },
    });
    const client = new Anthropic({ apiKey: "provider-key", baseURL: own.url, maxRetries: 0 });
    const file = await toFile(Buffer.from("%PDF"), "a.pdf");
    const { id } = await client.beta.files.upload({ file, betas: [BETA] });
    await client.beta.messages.create(question(id, "claude-opus-4-1"));
    expect(lastBody().messages).toEqual(question(FILE).messages);
    const { url } = own;
    const stranger = new Anthropic({ apiKey: "other-key", baseURL: url, maxRetries: 0 });
    await expect(stranger.beta.files.retrieveMetadata(id)).rejects.toThrow(/invalid x-api-key/);
  });
});
