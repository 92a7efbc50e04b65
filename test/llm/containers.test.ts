import type OpenAI from "openai";
import { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import { clientOf, startCallersGateway } from "./callers-gateway.ts";
import { RAW, startContainers, WRITTEN } from "./containers-upstream.ts";

let upstream: Scripted;
let other: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startContainers();
  other = await startContainers();
  const params = { apiKey: "${KEY}", hostOverride: upstream.host };
  const guard = { response: [{ regex: { action: "reject", rules: [{ builtin: "email" }] } }] };
  gateway = await startCallersGateway({
    models: [
      { name: "gpt", provider: "openAI", params: { ...params, model: "gpt-5-mini" } },
      { name: "other", provider: "openAI", params: { ...params, hostOverride: other.host } },
      {
        ...{ name: "guarded", provider: "openAI", guardrails: guard },
        params: { ...params, hostOverride: `localhost:${other.host.split(":")[1]}` },
      },
    ],
  });
});

const ann = (): OpenAI => clientOf(gateway, "ann-key");
const bob = (): OpenAI => clientOf(gateway, "bob-key");

/** Body of a request for a container: which provider has it. */
function createIn(client: OpenAI, model = "gpt") {
  const body = { name: "work", model };
  return client.containers.create(body);
}

const auto = { type: "code_interpreter" as const, container: { type: "auto" as const } };
const ask = { model: "gpt", input: "Plot it.", tools: [auto] };

/** Ids that a response names, which must not be those of the provider. */
function idsOf(response: object): readonly string[] {
  const text = JSON.stringify(response);
  expect(text).not.toMatch(/"(?:cntr_RAW|resp_RAW)"/);
  return [...new Set(text.match(/"cntr_[\w-]+"/g))].map((id) => id.slice(1, -1));
}

function lastSent(): { readonly url: string; readonly body: string } {
  const { url = "", body } = upstream.received.at(-1) ?? {};
  return { url, body: body?.toString() ?? "" };
}

describe("a container of OpenAI", () => {
  it("is created, read and deleted by its owner", async () => {
    const { id } = await createIn(ann());
    expect(id).toMatch(/^cntr_/);
    expect(id).not.toBe(RAW.container);
    expect(await ann().containers.retrieve(id)).toMatchObject({ id, name: "work" });
    await ann().containers.delete(id);
    expect(lastSent().url).toBe(`/v1/containers/${RAW.container}`);
  });

  it("gets files of its owner only", async () => {
    const file = await toFile(Buffer.from("1,2"), "a.csv");
    const own = { file, purpose: "user_data" as const, model: "gpt" };
    const { id } = await ann().files.create(own);
    const body = { name: "work", file_ids: [id], model: "gpt" };
    await ann().containers.create(body);
    expect(JSON.parse(lastSent().body)).toEqual({ name: "work", file_ids: [RAW.file] });
    const refused = { status: 404 };
    await expect(bob().containers.create(body)).rejects.toMatchObject(refused);
    const raw = { ...body, file_ids: [RAW.file] };
    await expect(ann().containers.create(raw)).rejects.toMatchObject(refused);
    const { id: container } = await createIn(ann());
    await ann().containers.files.create(container, { file_id: id });
    expect(JSON.parse(lastSent().body)).toEqual({ file_id: RAW.file });
    const foreign = ann().containers.files.create(container, { file_id: RAW.file });
    await expect(foreign).rejects.toMatchObject(refused);
    await ann().containers.files.create(container, { file });
    expect(lastSent().body).toContain("1,2");
    const both = ann().containers.files.create(container, { file, file_id: RAW.file });
    await expect(both).rejects.toThrow(/"file_id" is not supported next to a file/);
  });

  it("does not exist for another caller", async () => {
    const { id } = await createIn(ann());
    const before = upstream.received.length;
    const missing = { status: 404 };
    const { containers } = bob();
    await expect(containers.retrieve(id)).rejects.toMatchObject(missing);
    await expect(containers.delete(id)).rejects.toMatchObject(missing);
    await expect(containers.files.list(id)).rejects.toMatchObject(missing);
    const file = { container_id: id };
    await expect(containers.files.retrieve(RAW.written, file)).rejects.toMatchObject(missing);
    const content = containers.files.content.retrieve(RAW.written, file);
    await expect(content).rejects.toMatchObject(missing);
    await expect(ann().containers.retrieve(RAW.container)).rejects.toMatchObject(missing);
    await expect(ann().containers.list()).rejects.toMatchObject(missing);
    expect(upstream.received).toHaveLength(before);
  });

  it("is used by requests of its owner only, at its provider", async () => {
    const { id } = await createIn(ann());
    const tools = [{ type: "code_interpreter" as const, container: id }];
    await ann().responses.create({ ...ask, tools });
    expect(JSON.parse(lastSent().body).tools).toMatchObject([{ container: RAW.container }]);
    await expect(bob().responses.create({ ...ask, tools })).rejects.toMatchObject({ status: 404 });
    const elsewhere = ann().responses.create({ ...ask, model: "other", tools });
    await expect(elsewhere).rejects.toThrow(/container is stored at another provider/);
    const raw = [{ type: "code_interpreter" as const, container: RAW.container }];
    await expect(ann().responses.create({ ...ask, tools: raw })).rejects.toThrow(
      /no such container/,
    );
  });

  it("is refused for models with guards, which cannot read files", async () => {
    const { id } = await createIn(ann(), "guarded");
    const content = ann().containers.files.content.retrieve(RAW.written, { container_id: id });
    await expect(content).rejects.toThrow(/guards, which cannot read files/);
    const file = await toFile(Buffer.from("1,2"), "a.csv");
    await expect(ann().containers.files.create(id, { file })).rejects.toThrow(/guards/);
  });
});

describe("a file that a program of OpenAI has written", () => {
  it("is downloaded by the caller of the response, byte for byte", async () => {
    const response = await ann().responses.create(ask);
    const [container = "", ...others] = idsOf(response);
    expect(others).toEqual([]);
    const [, message] = response.output;
    const [part] = message?.type === "message" ? message.content : [];
    const [cited] = part?.type === "output_text" ? part.annotations : [];
    if (cited?.type !== "container_file_citation") throw new Error("nothing is cited");
    expect(cited.container_id).toBe(container);
    const where = { container_id: container };
    const content = await ann().containers.files.content.retrieve(cited.file_id, where);
    expect(Buffer.from(await content.arrayBuffer())).toEqual(WRITTEN);
    const facts = await ann().containers.files.retrieve(cited.file_id, where);
    expect(facts).toMatchObject({ container_id: container, path: "/mnt/data/plot.png" });
    const { data } = await ann().containers.files.list(container);
    expect(data).toMatchObject([{ container_id: container }]);
    await ann().containers.files.delete(cited.file_id, where);
    expect(lastSent().url).toBe(`/v1/containers/${RAW.container}/files/${RAW.written}`);
  });

  it("is named by the same ids in each event of a stream", async () => {
    const whole = await ann().responses.create(ask);
    const events: object[] = [];
    for await (const event of await ann().responses.create({ ...ask, stream: true }))
      events.push(event);
    expect(idsOf(events)).toEqual(idsOf(whole));
    expect(JSON.stringify(events)).toContain("plot \u2028 response.id");
  });

  it("is read again in later turns, whose history must be the caller's", async () => {
    const { output } = await ann().responses.create({ ...ask, store: false });
    const [called, answer] = output;
    if (called?.type !== "code_interpreter_call" || answer?.type !== "message")
      throw new Error("the response has no program");
    const input = [called, answer, { role: "user" as const, content: "Again." }];
    await ann().responses.create({ ...ask, input });
    const [run, message] = JSON.parse(lastSent().body).input;
    expect(run.container_id).toBe(RAW.container);
    expect(message.content[0].annotations[0].container_id).toBe(RAW.container);
    const stolen = bob().responses.create({ ...ask, input });
    await expect(stolen).rejects.toMatchObject({ status: 404 });
  });
});

describe("a response that OpenAI stores", () => {
  it("belongs to its caller", async () => {
    const { id, metadata } = await ann().responses.create(ask);
    expect(id).toMatch(/^resp_/);
    expect(metadata).toEqual({ id: "resp_of_the_client", object: "response" });
    const kept = await ann().responses.retrieve(id);
    expect({ id: kept.id, containers: idsOf(kept).length }).toEqual({ id, containers: 1 });
    const next = await ann().responses.create({ ...ask, previous_response_id: id });
    expect(next.previous_response_id).toBe(id);
    expect((await ann().responses.cancel(id)).id).toBe(id);
    await ann().responses.inputItems.list(id);
    expect(lastSent().url).toMatch(/^\/v1\/responses\/resp_RAW\/input_items/);
    const seen: object[] = [];
    for await (const event of await ann().responses.retrieve(id, { stream: true }))
      seen.push(event);
    idsOf(seen);
    await ann().responses.delete(id);
  });

  it.each([
    ["another caller", bob, async () => (await ann().responses.create(ask)).id],
    ["the provider's own id", ann, async () => RAW.response],
  ])("does not exist for %s", async (_, client, idOf) => {
    const id = await idOf();
    const before = upstream.received.length;
    const missing = { status: 404 };
    await expect(client().responses.retrieve(id)).rejects.toMatchObject(missing);
    await expect(client().responses.delete(id)).rejects.toMatchObject(missing);
    await expect(client().responses.cancel(id)).rejects.toMatchObject(missing);
    await expect(client().responses.inputItems.list(id)).rejects.toMatchObject(missing);
    const next = { ...ask, previous_response_id: id };
    await expect(client().responses.create(next)).rejects.toMatchObject(missing);
    const count = { model: "gpt", previous_response_id: id };
    await expect(client().responses.inputTokens.count(count)).rejects.toMatchObject(missing);
    expect(upstream.received).toHaveLength(before);
  });

  it("is stored at one provider", async () => {
    const { id } = await ann().responses.create({ ...ask, model: "other" });
    await ann().responses.retrieve(id);
    expect(other.received.at(-1)?.url).toBe(`/v1/responses/${RAW.response}`);
    const next = ann().responses.create({ ...ask, previous_response_id: id });
    await expect(next).rejects.toThrow(/response is stored at another provider/);
  });

  it("has its tokens counted at the provider of its model", async () => {
    await ann().responses.inputTokens.count({ model: "other", input: "Hi" });
    expect(other.received.at(-1)?.url).toBe("/v1/responses/input_tokens");
  });
});
