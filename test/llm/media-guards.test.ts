import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import { json, readForm, startMedia, WAVE } from "./media-upstream.ts";

const routes = {
  "/audio/speech": "speech",
  "/audio/transcriptions": "transcriptions",
  "/images/generations": "images",
  "/images/edits": "imageEdits",
  "/rerank": "rerank",
  "/moderations": "moderations",
};
const emails = { rules: [{ builtin: "email" }] };
const guards = {
  masked: { request: [{ regex: emails }], response: [{ regex: emails }] },
  refused: {
    request: [{ regex: { ...emails, action: "reject" } }],
    response: [{ regex: { ...emails, action: "reject" } }],
  },
  heard: { response: [{ regex: { ...emails, action: "reject" } }] },
};
const text = "Write to ann@example.com today";
const MASKED = "Write to <EMAIL_ADDRESS> today";

let upstream: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startMedia({
    "/v1/images/generations": (response) =>
      json(response, { created: 1, data: [{ b64_json: "AAAA", revised_prompt: text }] }),
  });
  const formats = Object.values(routes).map((type) => ({ type }));
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(guards).map(([name, promptGuard]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: { backendAuth: { key: "${KEY}" }, ai: { routes, promptGuard } },
          backends: [{ ai: { provider: { custom: { formats } }, hostOverride: upstream.host } }],
        })),
      },
    ],
  });
});

function clientOf(route: keyof typeof guards): OpenAI {
  const baseURL = `${gateway.url}/${route}/v1`;
  return new OpenAI({ apiKey: "client-key", baseURL, maxRetries: 0 });
}

function sent() {
  return JSON.parse(upstream.received.at(-1)?.body.toString() ?? "{}");
}

const model = "gpt-4o-transcribe";
const file = () => toFile(WAVE, "a.wav");

describe("a guard masks", () => {
  const client = () => clientOf("masked");

  it("what is spoken, and how", async () => {
    const asked = { model: "tts-1", input: text, instructions: text, voice: "alloy" };
    await client().audio.speech.create(asked);
    expect(sent()).toEqual({ ...asked, input: MASKED, instructions: MASKED });
  });

  it("the prompt of an image, and the one that a model revised", async () => {
    const made = await client().images.generate({ model: "gpt-image-1", prompt: text });
    expect(sent().prompt).toBe(MASKED);
    expect(made.data?.[0]).toEqual({ b64_json: "AAAA", revised_prompt: MASKED });
  });

  it("the prompt in a form, whose files pass unchanged", async () => {
    await client().images.edit({ model: "gpt-image-1", prompt: text, image: await file() });
    const received = upstream.received.at(-1);
    const read = received && (await readForm(received));
    expect([read?.fields.prompt, read?.files.image]).toEqual([MASKED, WAVE]);
  });

  it("the documents and the query of a ranking", async () => {
    const documents = [text, { text }];
    const ranked = await client().post("/rerank", { body: { model: "r", query: text, documents } });
    expect(sent()).toMatchObject({ query: MASKED, documents: [MASKED, { text: MASKED }] });
    expect(JSON.stringify(ranked)).not.toContain("ann@");
  });

  it("the input of a moderation", async () => {
    await client().moderations.create({ model: "omni-moderation-latest", input: [text] });
    expect(sent().input).toEqual([MASKED]);
  });

  it("a transcription, and its parts", async () => {
    const said: unknown = await client().audio.transcriptions.create({
      ...{ file: await file(), model: "whisper-1", response_format: "verbose_json" },
    });
    expect(said).toMatchObject({ text: "Mail <EMAIL_ADDRESS> now.", words: [] });
    expect(JSON.stringify(said)).not.toMatch(/ann@|\[1,2,3\]/);
  });

  it("subtitles", async () => {
    const said: unknown = await client().audio.transcriptions.create({
      ...{ file: await file(), model: "whisper-1", response_format: "srt" },
    });
    expect(said).toBe("1\n00:00:00,000 --> 00:00:02,000\nMail <EMAIL_ADDRESS> now.\n");
  });

  it("a transcription in events, whatever their bounds", async () => {
    const stream = await client().audio.transcriptions.create({
      ...{ file: await file(), model, stream: true },
    });
    let said = "";
    let whole = "";
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") said += event.delta;
      if (event.type === "transcript.text.done") whole = event.text;
    }
    expect([said, whole]).toEqual(["Mail <EMAIL_ADDRESS> now.", "Mail <EMAIL_ADDRESS> now."]);
  });
});

describe("a guard refuses", () => {
  it("speech before the provider is called", async () => {
    const before = upstream.received.length;
    const asked = clientOf("refused").audio.speech.create({
      ...{ model: "tts-1", input: text, voice: "alloy" },
    });
    await expect(asked).rejects.toMatchObject({ status: 403 });
    expect(upstream.received).toHaveLength(before);
  });

  it("a form before the provider is called", async () => {
    const before = upstream.received.length;
    const asked = clientOf("refused").audio.transcriptions.create({
      ...{ file: await file(), model, prompt: text },
    });
    await expect(asked).rejects.toMatchObject({ status: 403 });
    expect(upstream.received).toHaveLength(before);
  });

  it("a whole transcription", async () => {
    const asked = clientOf("heard").audio.transcriptions.create({ file: await file(), model });
    await expect(asked).rejects.toMatchObject({ status: 403 });
  });

  it("subtitles", async () => {
    const asked = clientOf("heard").audio.transcriptions.create({
      ...{ file: await file(), model: "whisper-1", response_format: "vtt" },
    });
    await expect(asked).rejects.toMatchObject({ status: 403 });
  });

  it("documents of which it cannot read all members", async () => {
    const documents = [{ text: "a", note: text }];
    const asked = clientOf("masked").post("/rerank", {
      body: { model: "r", query: "q", documents },
    });
    await expect(asked).rejects.toMatchObject({ status: 400, param: "documents" });
  });
});
