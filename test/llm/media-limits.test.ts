import OpenAI, { toFile } from "openai";
import { beforeAll, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMedia, WAVE } from "./media-upstream.ts";

const limits = {
  tokens: [{ tokens: 100, unit: "Days" }],
  images: [{ budget: 3, unit: "Months", cost: "double(llm.images)" }],
  estimated: [{ tokens: 5, unit: "Days" }],
};

let gateway: Gateway;

beforeAll(async () => {
  const { host } = await startMedia();
  const routes = {
    "/audio/speech": "speech",
    "/audio/transcriptions": "transcriptions",
    "/images/generations": "images",
  };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(limits).map(([name, localRateLimit]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: { localRateLimit, backendAuth: { key: "${KEY}" }, ai: { routes } },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
        })),
      },
    ],
  });
});

function clientOf(route: keyof typeof limits): OpenAI {
  const baseURL = `${gateway.url}/${route}/v1`;
  return new OpenAI({ apiKey: "client-key", baseURL, maxRetries: 0 });
}

it("tokens of a transcription are charged to limits", async () => {
  const client = clientOf("tokens");
  const ask = async () =>
    client.audio.transcriptions.create({
      ...{ file: await toFile(WAVE, "a.wav"), model: "gpt-4o-transcribe" },
    });
  await ask();
  await expect(ask()).rejects.toMatchObject({ status: 429 });
});

it("images are charged to budgets", async () => {
  const client = clientOf("images");
  const ask = () => client.images.generate({ model: "gpt-image-1", prompt: "A cat", n: 3 });
  await ask();
  await expect(ask()).rejects.toMatchObject({ status: 429 });
});

it("a text that is spoken is estimated in tokens, which its provider does not report", async () => {
  const client = clientOf("estimated");
  const ask = () =>
    client.audio.speech.create({ model: "tts-1", input: "Hello ".repeat(4), voice: "alloy" });
  await ask();
  await expect(ask()).rejects.toMatchObject({ status: 429 });
});
