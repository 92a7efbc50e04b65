import type OpenAI from "openai";
import { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { FILE } from "./batch-upstream.ts";
import { clientOf, startCallersGateway } from "./callers-gateway.ts";
import { json, readForm } from "./media-upstream.ts";
import { upstreamAt } from "./table/pairs.ts";

const SAID = "A cat.";

/** A provider that stores one file, and reads it in chats. */
function startReader(): Promise<Scripted> {
  return startScripted((response, _count, { url, method }) => {
    const file = { id: FILE, object: "file", bytes: 3, filename: "a.pdf", purpose: "user_data" };
    if (url === "/v1/files" && method === "POST") json(response, file);
    else if (url === "/v1/images/edits") json(response, { created: 1, data: [] });
    else if (url === `/v1/files/${FILE}/content`) response.end("%PDF");
    else if (url.startsWith("/v1/files")) json(response, { error: { message: "no file" } }, 404);
    else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(upstreamAt(url).whole({ text: SAID, reasoning: "", calls: [] }));
    }
  }, "anything");
}

let upstream: Scripted;
let other: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startReader();
  other = await startReader();
  const params = { apiKey: "${KEY}", hostOverride: upstream.host };
  const claude = { name: "claude", provider: "anthropic", params };
  gateway = await startCallersGateway({
    apis: ["batches", "images"],
    models: [
      { name: "small", provider: "openAI", params: { ...params, model: "gpt-5-mini" } },
      { name: "other", provider: "openAI", params: { ...params, hostOverride: other.host } },
      claude,
    ],
  });
});

async function upload(apiKey: string, more: object = { model: "small" }): Promise<string> {
  const file = await toFile(Buffer.from("%PDF"), "a.pdf");
  const { id } = await clientOf(gateway, apiKey).files.create({
    file,
    purpose: "user_data",
    ...more,
  });
  return id;
}

const chat = (id: string, model = "small") => ({
  model,
  messages: [
    {
      role: "user" as const,
      content: [
        { type: "file" as const, file: { file_id: id } },
        { type: "text" as const, text: "What is it?" },
      ],
    },
  ],
});

const response = (id: string, model = "small") => ({
  model,
  input: [
    {
      role: "user" as const,
      content: [
        { type: "input_file" as const, file_id: id },
        { type: "input_text" as const, text: "What is it?" },
      ],
    },
  ],
});

describe("a file for chats", () => {
  it("is stored at the provider of the model that its form names", async () => {
    const id = await upload("ann-key");
    expect(id).toMatch(/^file-/);
    expect(id).not.toContain("RAW");
    const sent = upstream.received.findLast(({ url }) => url === "/v1/files");
    if (sent === undefined) throw new Error("the provider got no file");
    const { fields } = await readForm(sent);
    expect(fields).toEqual({ purpose: "user_data", file: "file" });
  });

  it("is named by its id in chat completions and responses", async () => {
    const id = await upload("ann-key");
    const client = clientOf(gateway, "ann-key");
    const { choices } = await client.chat.completions.create(chat(id));
    expect(choices[0]?.message.content).toBe(SAID);
    const { messages } = JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");
    expect(messages[0].content[0]).toEqual({ type: "file", file: { file_id: FILE } });
    await client.responses.create(response(id));
    const { input } = JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");
    expect(input[0].content[0]).toEqual({ type: "input_file", file_id: FILE });
  });

  it("is edited as an image by its owner only", async () => {
    const edit = {
      model: "small",
      prompt: "A hat.",
      images: [{ file_id: await upload("ann-key") }],
    };
    await clientOf(gateway, "ann-key").post("/images/edits", { body: edit });
    const sent = JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");
    expect(sent.images).toEqual([{ file_id: FILE }]);
    const stolen = clientOf(gateway, "bob-key").post("/images/edits", { body: edit });
    await expect(stolen).rejects.toMatchObject({ status: 404 });
    const file = await toFile(Buffer.from("file_id"), "a.png");
    await clientOf(gateway, "bob-key").images.edit({
      model: "small",
      prompt: "A hat.",
      image: file,
    });
  });

  it("may be cited by the model in the history, by any id", async () => {
    const cited = { type: "file_citation" as const, file_id: FILE, filename: "a.pdf", index: 0 };
    const said = { type: "output_text" as const, text: SAID, annotations: [cited] };
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "What is it?" },
      { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [said] },
      { role: "user", content: "Sure?" },
    ];
    const metadata = { file_id: "mine" };
    await clientOf(gateway, "ann-key").responses.create({ model: "small", input, metadata });
    const sent = JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");
    expect(sent).toMatchObject({
      metadata,
      input: [{}, { content: [{ annotations: [cited] }] }, {}],
    });
  });

  it("is downloaded by its owner only", async () => {
    const id = await upload("ann-key");
    const content = await clientOf(gateway, "ann-key").files.content(id);
    expect(await content.text()).toBe("%PDF");
    await expect(clientOf(gateway, "bob-key").files.content(id)).rejects.toMatchObject({
      status: 404,
    });
  });

  it.each([
    ["that of another caller", (): Promise<string> => upload("bob-key")],
    ["the provider's own", async (): Promise<string> => FILE],
  ] as const)("is not read by an id that is %s", async (_, idOf) => {
    const id: string = await idOf();
    const before = upstream.received.length;
    const client = clientOf(gateway, "ann-key");
    await expect(client.chat.completions.create(chat(id))).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create(response(id))).rejects.toMatchObject({ status: 404 });
    expect(upstream.received).toHaveLength(before);
  });

  it("is not read by an id in escapes", async () => {
    const { status, body } = await send(
      `${gateway.url}/v1/chat/completions`,
      "POST",
      { "content-type": "application/json", authorization: "Bearer ann-key" },
      JSON.stringify(chat(FILE)).replace("file_id", "file\\u005fid"),
    );
    expect({ status, body }).toMatchObject({ status: 404, body: expect.stringMatching(/no such/) });
  });

  it("is refused for a model of another provider", async () => {
    const id = await upload("ann-key");
    const ask = clientOf(gateway, "ann-key").chat.completions.create(chat(id, "other"));
    await expect(ask).rejects.toMatchObject({ status: 400, message: /at another provider/ });
    const translated = clientOf(gateway, "ann-key").chat.completions.create(chat(id, "claude"));
    await expect(translated).rejects.toMatchObject({ status: 400, message: /not supported/ });
  });

  it("is no file where it is an argument of a tool, for models of any API", async () => {
    const tool = { type: "function" as const, function: { name: "open" } };
    const args = '{"file_id":"file-of-the-client","id":"msg_1"}';
    const call = { id: "call_1", type: "function" as const };
    const messages = [
      { role: "user" as const, content: "Open it." },
      {
        role: "assistant" as const,
        tool_calls: [{ ...call, function: { name: "open", arguments: args } }],
      },
      { role: "tool" as const, tool_call_id: "call_1", content: "Opened." },
    ];
    for (const model of ["small", "claude"]) {
      await clientOf(gateway, "ann-key").chat.completions.create({
        ...{ model, messages, tools: [tool] },
      });
      expect(upstream.received.at(-1)?.body.toString()).toContain("file-of-the-client");
    }
  });

  it.each([
    [{}, /"model" is missing: its provider stores the object/],
    [{ model: "claude" }, /has no files/],
    [{ model: "small", purpose: "fine-tune" as const }, /"purpose" must be/],
  ])("is refused without a store: %j", async (more, problem) => {
    await expect(upload("ann-key", more)).rejects.toThrow(problem);
  });
});

describe("a file for chats where guards read texts", () => {
  async function startGuarded(): Promise<OpenAI> {
    const guard = { request: [{ regex: { action: "reject", rules: [{ builtin: "email" }] } }] };
    const params = { apiKey: "${KEY}", hostOverride: upstream.host };
    const guarded = await startCallersGateway({
      models: [{ name: "small", provider: "openAI", params, guardrails: guard }],
    });
    return clientOf(guarded, "ann-key");
  }

  it("is refused, because they cannot read it", async () => {
    const client = await startGuarded();
    const file = await toFile(Buffer.from("%PDF"), "a.pdf");
    await expect(client.files.create({ file, purpose: "user_data" })).rejects.toThrow(
      /guards, which cannot read files/,
    );
  });

  it("cannot be that of a batch, of which they have not read every word", async () => {
    const client = await startGuarded();
    const body = { model: "small", messages: [{ role: "user", content: "Hello" }] };
    const line = {
      custom_id: "ann@example.com",
      method: "POST",
      url: "/v1/chat/completions",
      body,
    };
    const file = await toFile(Buffer.from(JSON.stringify(line)), "a.jsonl");
    const { id } = await client.files.create({ file, purpose: "batch" });
    await expect(client.chat.completions.create(chat(id))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("guards, which cannot read files"),
    });
  });
});
