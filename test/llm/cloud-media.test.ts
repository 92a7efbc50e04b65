import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { json } from "./media-upstream.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** A gateway in front of a provider that responds with an object, and the requests that it got. */
async function start(provider: object, answer: object, status = 200) {
  const upstream = await startScripted((response) => json(response, answer, status), "anything");
  const routes: Readonly<Record<string, string>> =
    "bedrock" in provider ? { "/rerank": "rerank" } : { "/images/generations": "images" };
  const gateway = await startAiGateway(upstream.host, routes, { provider });
  const last = (): Received => {
    const received = upstream.received.at(-1);
    if (received === undefined) throw new Error("nothing was received");
    return received;
  };
  return {
    ...{ upstream, gateway, last },
    client: new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
    ask: async (path: string, body: object) => {
      const told = await send(`${gateway.url}${path}`, "POST", JSON_TYPE, JSON.stringify(body));
      return { status: told.status, body: JSON.parse(told.body) };
    },
  };
}

describe("a ranking at Bedrock", () => {
  const results = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.2 },
  ];
  const documents = ["Rome", { text: "Paris" }];

  it.each([
    ["cohere.rerank-v3-5:0", { api_version: 2 }],
    ["amazon.rerank-v1:0", {}],
  ])("is one of %s", async (model, more) => {
    const { ask, last, gateway } = await start({ bedrock: {} }, { results });
    const asked = { model, query: "Where?", documents, top_n: 2, return_documents: true };
    const { status, body } = await ask("/v2/rerank", asked);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      model,
      results: [
        { index: 1, relevance_score: 0.9, document: { text: "Paris" } },
        { index: 0, relevance_score: 0.2, document: { text: "Rome" } },
      ],
    });
    expect(last().url).toBe(`/model/${encodeURIComponent(model)}/invoke`);
    expect(JSON.parse(last().body.toString())).toEqual({
      ...{ query: "Where?", documents: ["Rome", "Paris"], top_n: 2, ...more },
    });
    await gateway.seen(/operation\.name=rerank .*llm\.searches=1/);
  });

  it("is refused with the field that the model does not have", async () => {
    const { ask, upstream } = await start({ bedrock: {} }, { results });
    const asked = { model: "cohere.rerank-v3-5:0", query: "Where?" };
    const objects = await ask("/v1/rerank", { ...asked, documents: [{ title: "Rome" }] });
    expect(objects.status).toBe(400);
    expect(objects.body.error).toMatchObject({ param: "documents[0]" });
    const fields = await ask("/v1/rerank", { ...asked, documents, rank_fields: ["a"] });
    expect(fields.body.error).toMatchObject({ param: "rank_fields" });
    expect(upstream.received).toEqual([]);
  });

  it("fails with the provider's error in the client's format", async () => {
    const { ask } = await start({ bedrock: {} }, { message: "too many documents" }, 400);
    const { status, body } = await ask("/v1/rerank", { model: "m", query: "Where?", documents });
    expect(status).toBe(400);
    expect(body.error.message).toContain("too many documents");
  });
});

describe("images of Imagen", () => {
  const provider = { vertex: { projectId: "p", region: "us-central1" } };

  it("are predictions of Vertex AI", async () => {
    const predictions = [
      { bytesBase64Encoded: "AAAA", mimeType: "image/png", prompt: "A red cat" },
    ];
    const { client, last, gateway } = await start(provider, { predictions });
    const { data } = await client.images.generate({
      ...{ model: "imagen-4.0-generate-001", prompt: "A cat", n: 1, size: "1536x1024" },
      ...{ quality: "high", output_format: "jpeg", output_compression: 80 },
    });
    expect(data).toEqual([{ b64_json: "AAAA", revised_prompt: "A red cat" }]);
    expect(last().url).toBe(
      "/v1/projects/p/locations/us-central1/publishers/google/models/imagen-4.0-generate-001:predict",
    );
    expect(JSON.parse(last().body.toString())).toEqual({
      instances: [{ prompt: "A cat" }],
      parameters: {
        ...{ sampleCount: 1, aspectRatio: "4:3", includeRaiReason: true },
        outputOptions: { mimeType: "image/jpeg", compressionQuality: 80 },
      },
    });
    await gateway.seen(/operation\.name=image_generation .*llm\.images=1/);
  });

  it("that filters remove are an error with the reason", async () => {
    const { client } = await start(provider, { predictions: [{ raiFilteredReason: "violence" }] });
    const asked = client.images.generate({ model: "imagen-4.0-generate-001", prompt: "x" });
    await expect(asked).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("violence"),
    });
  });

  it("have no URLs and no streams", async () => {
    const { ask, upstream } = await start(provider, {});
    for (const field of [{ response_format: "url" }, { stream: true }]) {
      const { status, body } = await ask("/v1/images/generations", {
        ...{ model: "imagen-4.0-generate-001", prompt: "x", ...field },
      });
      expect(status).toBe(400);
      expect(body.error.param).toBe(Object.keys(field)[0]);
    }
    expect(upstream.received).toEqual([]);
  });
});

it("images of Gemini are those of its API for OpenAI's clients", async () => {
  const { client, last } = await start(
    { gemini: {} },
    { created: 1, data: [{ b64_json: "AAAA" }] },
  );
  await client.images.generate({ model: "imagen-4.0-generate-001", prompt: "A cat" });
  expect(last().url).toBe("/v1beta/openai/images/generations");
});

describe.each([
  ["v1", (api: string) => `/openai/v1/${api}`, (api: string) => `/openai/v1/${api}`],
  [
    "2024-10-21",
    (api: string) => `/openai/deployments/my%20model/${api}?api-version=2024-10-21`,
    (api: string) => `/openai/${api}?api-version=2024-10-21`,
  ],
])("Azure's version %s", (azureApiVersion, ofDeployment, ofResource) => {
  it("has paths for sound, images, files and batches", async () => {
    const upstream = await startScripted((response, _, { url }) => {
      const path = url.split("?")[0] ?? "";
      if (path.endsWith("/content")) response.end("{}\n");
      else if (path.endsWith("/batches"))
        json(response, { id: "batch_1", input_file_id: "file-1" });
      else if (path.endsWith("/files")) json(response, { id: "file-1", object: "file" });
      else if (path.includes("/audio/speech"))
        response.setHeader("content-type", "audio/mpeg").end("x");
      else json(response, { text: "Hi", data: [], created: 1, id: "file-1" });
    }, "anything");
    const params = { azureHost: "res.openai.azure.com", azureApiVersion, model: "my model" };
    const gateway = await startGateway({
      env: { KEY: "azure-key", ANN: "ann-key" },
      config: {
        llm: {
          port: await freePort(),
          apis: ["audio", "images", "batches"],
          policies: { apiKey: { keys: [{ key: "${ANN}" }] } },
          models: [
            {
              ...{ name: "m", provider: "azure" },
              params: { ...params, hostOverride: upstream.host, apiKey: "${KEY}" },
            },
          ],
        },
      },
    });
    const client = new OpenAI({ apiKey: "ann-key", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await client.audio.speech.create({ model: "m", input: "Hi", voice: "alloy" });
    const sound = await toFile(Buffer.from("x"), "a.wav");
    await client.audio.transcriptions.create({ model: "m", file: sound });
    await client.images.generate({ model: "m", prompt: "A cat" });
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }] };
    const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body };
    const file = await toFile(Buffer.from(JSON.stringify(line)), "b.jsonl");
    const { id } = await client.files.create({ file, purpose: "batch" });
    await client.batches.create({
      ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    await client.files.content(id);
    await client.files.retrieve(id);
    expect(upstream.received.map(({ url }) => url)).toEqual([
      ...["audio/speech", "audio/transcriptions", "images/generations"].map(ofDeployment),
      ...["files", "batches", "files/file-1/content", "files/file-1"].map(ofResource),
    ]);
    for (const { headers } of upstream.received) expect(headers["api-key"]).toBe("azure-key");
  });
});

it("images have a cost if their price is known, and no cost otherwise", async () => {
  const predictions = [{ bytesBase64Encoded: "AAAA" }, { bytesBase64Encoded: "BBBB" }];
  const upstream = await startScripted((response) => json(response, { predictions }), "anything");
  const models = {
    "imagen-priced": { rates: { image: 0.04 } },
    "imagen-other": { rates: { input: 1 } },
  };
  const model = (name: string) => ({
    ...{ name, provider: "vertex" },
    params: {
      vertexProject: "p",
      vertexRegion: "global",
      hostOverride: upstream.host,
      apiKey: "${KEY}",
    },
  });
  const gateway = await startGateway({
    env: { KEY: "k" },
    config: {
      config: { modelCatalog: [{ inline: { providers: { vertexai: { models } } } }] },
      llm: {
        port: await freePort(),
        apis: ["images"],
        models: [model("imagen-priced"), model("imagen-other")],
      },
    },
  });
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  for (const name of Object.keys(models)) {
    await client.images.generate({ model: name, prompt: "A cat", n: 2 });
  }
  await gateway.seen(/request\.model=imagen-priced .*gen_ai\.cost=0\.08/);
  await gateway.seen(/request\.model=imagen-other (?!.*gen_ai\.cost=)/);
});
