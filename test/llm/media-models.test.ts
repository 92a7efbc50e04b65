import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { AUDIO, json, readForm, startMedia, WAVE } from "./media-upstream.ts";

let upstream: Scripted;
let gateway: Gateway;
let client: OpenAI;

/** A price of each unit. */
const modelCatalog = [
  {
    inline: {
      providers: {
        openai: {
          models: {
            "tts-1": { rates: { character: 0.5 } },
            "whisper-1": { rates: { second: 0.25 } },
            "gpt-image-1": { rates: { image: 2, output: 1_000_000 } },
          },
        },
      },
    },
  },
];

beforeAll(async () => {
  upstream = await startMedia();
  const dead = await startScripted((response) => json(response, { error: {} }, 503), "anything");
  const params = { apiKey: "${KEY}", hostOverride: upstream.host };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      config: { modelCatalog },
      llm: {
        port: await freePort(),
        apis: ["audio", "images", "moderations"],
        models: [
          { name: "voice", provider: "openAI", params: { ...params, model: "tts-1" } },
          { name: "ears", provider: "openAI", params: { ...params, model: "whisper-1" } },
          { name: "gpt-image-*", provider: "openAI", params },
          { name: "claude", provider: "anthropic", params },
          { name: "first", provider: "openAI", params: { ...params, hostOverride: dead.host } },
        ],
        virtualModels: [
          {
            name: "both",
            routing: {
              failover: {
                targets: [
                  { model: "first", priority: 1 },
                  { model: "ears", priority: 2 },
                ],
              },
            },
          },
        ],
      },
    },
  });
  client = new OpenAI({ apiKey: "client-key", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

it("the model in a form chooses the provider, by its name there", async () => {
  await client.audio.transcriptions.create({ file: await toFile(WAVE, "a.wav"), model: "ears" });
  const received = upstream.received.at(-1);
  expect(received && (await readForm(received)).fields.model).toBe("whisper-1");
  expect(received?.headers.authorization).toBe("Bearer provider-key");
});

it("another provider takes over an upload that the first one fails", async () => {
  const file = await toFile(WAVE, "a.wav");
  const said = await client.audio.transcriptions.create({ file, model: "both" });
  expect(said.text).toContain("Mail");
  const received = upstream.received.at(-1);
  expect(received && (await readForm(received)).files.file).toEqual(WAVE);
});

describe("costs", () => {
  it("of speech are those of its characters", async () => {
    await client.audio.speech.create({ model: "voice", input: "Hé🙂", voice: "alloy" });
    await gateway.seen(/request\.model=voice .*gen_ai\.cost=1\.5 .*llm\.characters=3/);
  });

  it("of a transcription are those of its seconds", async () => {
    await client.audio.transcriptions.create({
      ...{ file: await toFile(AUDIO, "a.wav"), model: "ears", response_format: "verbose_json" },
    });
    await gateway.seen(/request\.model=ears .*gen_ai\.cost=0\.5 .*llm\.seconds=2/);
  });

  it("of images are those of images and tokens", async () => {
    await client.images.generate({ model: "gpt-image-1", prompt: "A cat", n: 2 });
    await gateway.seen(/request\.model=gpt-image-1 .*gen_ai\.cost=105 .*llm\.images=2/);
  });
});

it("a model whose provider does not have the API is refused in the provider's format", async () => {
  const asked = client.images.generate({ model: "claude", prompt: "A cat" });
  await expect(asked).rejects.toMatchObject({
    status: 400,
    param: "model",
    code: "unsupported_parameter",
    message: expect.stringContaining('the provider of the model "claude" has no API for this'),
  });
});

it("an unknown model is not found", async () => {
  const asked = client.images.generate({ model: "other", prompt: "A cat" });
  await expect(asked).rejects.toMatchObject({ status: 404, code: "model_not_found" });
});

it("an upload of 25 MB arrives whole", async () => {
  const large = Buffer.alloc(25_000_000, "a\r\n-b");
  await client.audio.transcriptions.create({ file: await toFile(large, "a.wav"), model: "ears" });
  const received = upstream.received.at(-1);
  expect(received && (await readForm(received)).files.file?.equals(large)).toBe(true);
});

it("a larger upload is refused with the field that raises the limit", async () => {
  const file = await toFile(Buffer.alloc(34_000_000), "a.wav");
  const asked = client.audio.transcriptions.create({ file, model: "ears" });
  await expect(asked).rejects.toMatchObject({
    status: 413,
    message: expect.stringContaining("maxBufferSize"),
  });
});

it("an API that the section does not request is not found", async () => {
  const asked = client.post("/rerank", { body: { model: "voice", query: "q", documents: ["a"] } });
  await expect(asked).rejects.toMatchObject({ status: 404 });
});
