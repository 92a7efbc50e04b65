import Anthropic from "@anthropic-ai/sdk";
import { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { BATCH, FILE, startStore } from "./batch-upstream.ts";
import { clientOf, startCallersGateway } from "./callers-gateway.ts";
import { readForm } from "./media-upstream.ts";

let store: Scripted;
let other: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  store = await startStore();
  other = await startStore();
  const params = { apiKey: "${KEY}", hostOverride: store.host };
  gateway = await startCallersGateway({
    others: { tied: { allowedModels: ["small"] } },
    models: [
      {
        name: "small",
        provider: "openAI",
        params: { ...params, model: "gpt-5-mini" },
        overrides: { max_completion_tokens: 7 },
      },
      { name: "large", provider: "openAI", params: { ...params, model: "gpt-5" } },
      {
        name: "other",
        provider: "openAI",
        params: { ...params, hostOverride: other.host, model: "gpt-5" },
      },
      {
        name: "claude",
        provider: "anthropic",
        params: { ...params, model: "claude-haiku-4-5" },
      },
      {
        name: "closed",
        provider: "openAI",
        params,
        authorization: { rules: ['apiKey.name == "bob"'] },
      },
    ],
  });
});

function lineOf(model: string, more: object = {}): string {
  const body = { model, messages: [{ role: "user", content: "Hello" }] };
  const line = { custom_id: model, method: "POST", url: "/v1/chat/completions", body, ...more };
  return JSON.stringify(line);
}

async function upload(apiKey: string, ...lines: readonly string[]) {
  const file = await toFile(Buffer.from(lines.join("\n")), "b.jsonl");
  return clientOf(gateway, apiKey).files.create({ file, purpose: "batch" });
}

async function create(apiKey: string) {
  const { id } = await upload(apiKey, lineOf("small"));
  return clientOf(gateway, apiKey).batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
}

it("each line of a batch is sent as if it was sent alone", async () => {
  const file = await upload("ann-key", lineOf("small"), "", lineOf("small"));
  expect(file).toMatchObject({ object: "file", bytes: 3, filename: "b.jsonl" });
  const received = store.received.at(-1);
  const content = received && (await readForm(received)).files.file?.toString();
  const lines =
    content
      ?.trim()
      .split("\n")
      .map((line) => JSON.parse(line)) ?? [];
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    custom_id: "small",
    body: { model: "gpt-5-mini", max_completion_tokens: 7 },
  });
  expect(received?.headers.authorization).toBe("Bearer provider-key");
  await gateway.seen(/operation\.name=files .*gen_ai\.usage\.input_tokens=\d/);
});

it("the owner of a batch follows it from the file to its output", async () => {
  const client = clientOf(gateway, "ann-key");
  const batch = await create("ann-key");
  expect(JSON.stringify(batch)).not.toContain("RAW");
  const again = await client.batches.retrieve(batch.id);
  expect(again).toEqual(batch);
  const output = await client.files.content(again.output_file_id ?? "");
  expect(await output.text()).toBe('{"custom_id":"a"}\n');
  expect(await client.batches.cancel(batch.id)).toMatchObject({ status: "cancelling" });
  const file = await client.files.retrieve(batch.input_file_id);
  expect(file.id).toBe(batch.input_file_id);
  expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
});

describe("another caller cannot", () => {
  it("use ids of files and batches", async () => {
    const batch = await create("ann-key");
    const bob = clientOf(gateway, "bob-key");
    const before = store.received.length;
    const { input_file_id: file, output_file_id: output } = batch;
    const attacks = [
      () => bob.files.retrieve(file),
      () => bob.files.content(output ?? ""),
      () => bob.files.delete(file),
      () => bob.batches.retrieve(batch.id),
      () => bob.batches.cancel(batch.id),
      () => bob.files.retrieve(batch.id.replace("batch_", "file-")),
      () =>
        bob.batches.create({
          ...{ input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" },
        }),
    ];
    for (const attack of attacks) await expect(attack()).rejects.toMatchObject({ status: 404 });
    expect(store.received).toHaveLength(before);
  });

  it("use the provider's own ids", async () => {
    const bob = clientOf(gateway, "bob-key");
    const before = store.received.length;
    await expect(bob.files.content(FILE)).rejects.toMatchObject({ status: 404 });
    await expect(bob.batches.retrieve(BATCH)).rejects.toMatchObject({ status: 404 });
    const create = bob.batches.create({
      ...{ input_file_id: FILE, endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    await expect(create).rejects.toMatchObject({ status: 404 });
    expect(store.received).toHaveLength(before);
  });

  it("change an id", async () => {
    const { id } = await upload("ann-key", lineOf("small"));
    const last = id.endsWith("A") ? "B" : "A";
    const inside = id.slice(0, 20) + (id[20] === "A" ? "B" : "A") + id.slice(21);
    for (const forged of [id.slice(0, -1) + last, `${id}A`, inside]) {
      const asked = clientOf(gateway, "ann-key").files.retrieve(forged);
      await expect(asked).rejects.toMatchObject({ status: 404 });
    }
  });

  it("list files or batches", async () => {
    const bob = clientOf(gateway, "bob-key");
    await expect(bob.files.list()).rejects.toMatchObject({ status: 404 });
    await expect(bob.batches.list()).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    "/v1/files/..%2Ffiles%2Ffile-RAW123",
    "/v1/files/%66ile-RAW123",
    "/v1/files/x/../file-RAW123",
    "/v1/files//file-RAW123",
    "/v1/files/file-RAW123/content?x=/files/",
    "/v1/batches/files/file-RAW123",
    "/v1/files?after=file-RAW123",
  ])("reach a file by the path %s", async (path) => {
    const before = store.received.length;
    const headers = { authorization: "Bearer bob-key" };
    const told = await send(gateway.url + path, "GET", headers);
    expect(told.status).toBeGreaterThanOrEqual(400);
    expect(store.received).toHaveLength(before);
  });
});

it("a request without a caller is refused", async () => {
  expect((await send(`${gateway.url}/v1/files/${FILE}`, "GET")).status).toBe(401);
});

describe("a file is refused", () => {
  it.each([
    ["of models of two providers", "ann-key", [lineOf("small"), lineOf("other")], "same provider"],
    ["with an unknown model", "ann-key", [lineOf("none")], "line 1: the model"],
    ["with a model that is closed to its caller", "ann-key", [lineOf("closed")], "line 1"],
    ["with a model that a key may not use", "tied-key", [lineOf("large")], "not open"],
    ["with a fallback to such a model", "tied-key", [fallback()], "not open"],
    ["with another path", "ann-key", [lineOf("small", { url: "/v1/files" })], "url"],
    ["with another method", "ann-key", [lineOf("small", { method: "GET" })], "method"],
    ["with two bodies", "ann-key", [twice()], "occurs twice"],
    [
      "with two models in a body",
      "ann-key",
      [lineOf("small").replace('"model"', '"model":"large","model"')],
      "occurs twice",
    ],
    ["that is not JSON", "ann-key", ["{"], "line 1"],
    ["without requests", "ann-key", [""], "no requests"],
    ["of a provider without files", "ann-key", [lineOf("claude")], "line 1"],
  ])("%s", async (_, key, lines, message) => {
    const before = store.received.length;
    await expect(upload(key, ...lines)).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
    expect(store.received).toHaveLength(before);
  });

  it("for another purpose than batches", async () => {
    const file = await toFile(Buffer.from("x"), "a.txt");
    const asked = clientOf(gateway, "ann-key").files.create({ file, purpose: "fine-tune" });
    await expect(asked).rejects.toMatchObject({ status: 400, param: "purpose" });
  });
});

function fallback(): string {
  const body = { model: "small", models: ["large"], messages: [{ role: "user", content: "Hi" }] };
  return lineOf("small", { body });
}

function twice(): string {
  return lineOf("small").replace('"method"', '"body":{"model":"large"},"method"');
}

describe("batches of messages", () => {
  const anthropic = (apiKey: string) =>
    new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
  const params = {
    model: "claude",
    max_tokens: 5,
    messages: [{ role: "user" as const, content: "Hello" }],
  };

  it("go to the provider of their models, and their results come back", async () => {
    const client = anthropic("ann-key");
    const batch = await client.messages.batches.create({ requests: [{ custom_id: "a", params }] });
    const sent = JSON.parse(store.received.at(-1)?.body.toString() ?? "{}");
    expect(sent.requests[0]).toMatchObject({ params: { model: "claude-haiku-4-5" } });
    expect(JSON.stringify(batch)).not.toContain("RAW");
    const results = await client.messages.batches.results(batch.id);
    const ids: string[] = [];
    for await (const { custom_id: id } of results) ids.push(id);
    expect(ids).toEqual(["a"]);
  });

  it("belong to their caller", async () => {
    const requests = [{ custom_id: "a", params }];
    const batch = await anthropic("ann-key").messages.batches.create({ requests });
    const bob = anthropic("bob-key").messages.batches;
    await expect(bob.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
    await expect(bob.cancel(batch.id)).rejects.toMatchObject({ status: 404 });
    await expect(bob.retrieve("msgbatch_RAW")).rejects.toMatchObject({ status: 404 });
    await expect(bob.list()).rejects.toMatchObject({ status: 404 });
  });

  it("only have models of one provider, that the caller may use", async () => {
    const requests = [{ custom_id: "a", params }];
    const asked = anthropic("tied-key").messages.batches.create({ requests });
    await expect(asked).rejects.toMatchObject({ status: 403 });
  });
});
