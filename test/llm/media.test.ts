import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { AUDIO, readForm, startMedia, WAVE } from "./media-upstream.ts";

const routes = {
  "/audio/speech": "speech",
  "/audio/transcriptions": "transcriptions",
  "/audio/translations": "translations",
  "/images/generations": "images",
  "/images/edits": "imageEdits",
  "/images/variations": "imageVariations",
  "/rerank": "rerank",
  "/moderations": "moderations",
};

let upstream: Scripted;
let gateway: Gateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startMedia();
  gateway = await startAiGateway(upstream.host, routes, {
    provider: { custom: { formats: Object.values(routes).map((type) => ({ type })) } },
    ai: { modelAliases: { voice: "tts-1", ears: "gpt-4o-transcribe" } },
  });
  client = new OpenAI({ apiKey: "client-key", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

function last() {
  const received = upstream.received.at(-1);
  if (received === undefined) throw new Error("nothing was received");
  return received;
}

const speech = { model: "voice", input: "Hello", voice: "alloy" } as const;

describe("the official client", () => {
  it("gets speech byte for byte", async () => {
    const said = await client.audio.speech.create(speech);
    expect(said.headers.get("content-type")).toBe("audio/mpeg");
    expect(Buffer.from(await said.arrayBuffer())).toEqual(AUDIO);
    expect(JSON.parse(last().body.toString())).toEqual({ ...speech, model: "tts-1" });
    await gateway.seen(/gen_ai\.operation\.name=speech .*llm\.characters=5/);
  });

  it("gets speech as events", async () => {
    const said = await client.audio.speech.create({ ...speech, stream_format: "sse" });
    const text = await said.text();
    expect(text).toContain("speech.audio.done");
    await gateway.seen(/operation\.name=speech .*gen_ai\.usage\.output_tokens=101/);
  });

  it("gets a transcription of a file that arrives byte for byte", async () => {
    const file = await toFile(WAVE, "speech.wav", { type: "audio/wav" });
    const said = await client.audio.transcriptions.create({
      ...{ file, model: "ears", language: "en" },
      timestamp_granularities: ["word", "segment"],
    });
    expect(said.text).toBe("Mail ann@example.com now.");
    const { fields, files } = await readForm(last());
    expect(fields).toMatchObject({ model: "gpt-4o-transcribe", language: "en" });
    expect(fields.timestamp_granularities).toEqual(["word", "segment"]);
    expect(files.file).toEqual(WAVE);
    await gateway.seen(
      /operation\.name=transcription .*request\.model=ears .*usage\.input_tokens=14/,
    );
  });

  it("gets the events of a transcription", async () => {
    const stream = await client.audio.transcriptions.create({
      ...{ file: await toFile(WAVE, "a.wav"), model: "ears", stream: true },
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      ...["transcript.text.delta", "transcript.text.delta", "transcript.text.done"],
    ]);
  });

  it("gets a whole transcription of a model that ignores streams", async () => {
    const said = await client.audio.transcriptions
      .create({ file: await toFile(WAVE, "a.wav"), model: "whisper-1", stream: true })
      .asResponse();
    expect(await said.json()).toMatchObject({ text: "Mail ann@example.com now." });
  });

  it("gets subtitles as text", async () => {
    const said: unknown = await client.audio.transcriptions.create({
      ...{ file: await toFile(WAVE, "a.wav"), model: "whisper-1", response_format: "srt" },
    });
    expect(said).toContain("00:00:00,000 --> 00:00:02,000");
  });

  it("gets the seconds of a verbose transcription counted", async () => {
    await client.audio.transcriptions.create({
      ...{ file: await toFile(WAVE, "a.wav"), model: "whisper-1", response_format: "verbose_json" },
    });
    await gateway.seen(/request\.model=whisper-1 .*llm\.seconds=2/);
  });

  it("gets a translation", async () => {
    const said = await client.audio.translations.create({
      ...{ file: await toFile(WAVE, "a.wav"), model: "whisper-1" },
    });
    expect(said.text).toContain("Mail");
  });

  it("gets images, whole and streamed", async () => {
    const asked = { model: "gpt-image-1", prompt: "A cat" };
    const whole = await client.images.generate({ ...asked, n: 2 });
    expect(whole.data).toHaveLength(2);
    await gateway.seen(/operation\.name=image_generation .*llm\.images=2/);
    const stream = await client.images.generate({ ...asked, stream: true, partial_images: 1 });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
  });

  it("gets edits of several images", async () => {
    const image = [await toFile(WAVE, "a.png"), await toFile(AUDIO, "b.png")];
    const asked = { model: "gpt-image-1", prompt: "A dog", image };
    const edited = await client.images.edit(asked);
    expect(edited.data).toHaveLength(1);
    const stream = await client.images.edit({ ...asked, stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe("image_edit.completed");
  });

  it("gets variations", async () => {
    const image = await toFile(WAVE, "a.png");
    const varied = await client.images.createVariation({ image, model: "dall-e-2" });
    expect(varied.data?.[0]?.url).toBe("https://x");
  });

  it("gets a moderation", async () => {
    const told = await client.moderations.create({ model: "omni-moderation-latest", input: "Hi" });
    expect(told.results[0]?.flagged).toBe(false);
  });

  it("gets a ranking", async () => {
    const ranked = await client.post("/rerank", {
      body: { model: "rank-1", query: "q", documents: ["a", "b"] },
    });
    expect(ranked).toMatchObject({ results: [{ index: 0 }, { index: 1 }] });
    await gateway.seen(
      /operation\.name=rerank .*gen_ai\.usage\.input_tokens=21 .*llm\.documents=2/,
    );
  });
});

it("a form whose model keeps its name passes byte for byte", async () => {
  const body = form(["model", "whisper-1"], ["prompt", "H\xc3\xa9\r\nllo"]);
  await post("/v1/audio/transcriptions", body);
  expect(last().body.toString("latin1")).toBe(body);
  expect(last().headers["content-type"]).toBe(FORM_TYPE);
});

it("an error of the provider passes byte for byte", async () => {
  const body = JSON.stringify({ model: "m", input: "Hi", voice: "alloy", speed: 9 });
  const type = { "content-type": "application/json" };
  const told = await send(`${gateway.url}/v1/audio/speech`, "POST", type, body);
  expect(told.status).toBe(400);
  expect(told.headers["x-request-id"]).toBe("req-1");
  expect(JSON.parse(told.body).error.message).toContain("/speed");
});

const FORM_TYPE = 'multipart/form-data; boundary="bound"';
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nabc';

function part(name: string, value: string): string {
  return `--bound\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function form(...fields: readonly (readonly [string, string])[]): string {
  const parts = fields.map(([name, value]) => part(name, value)).join("");
  return `${parts}--bound\r\n${FILE}\r\n--bound--\r\n`;
}

function post(path: string, body: string, type = FORM_TYPE) {
  const bytes = Buffer.from(body, "latin1");
  return send(gateway.url + path, "POST", { "content-type": type }, bytes);
}

const MODEL = part("model", "whisper-1");
const END = `--bound\r\n${FILE}\r\n--bound--\r\n`;

it.each([
  ["without its end", `${MODEL}--bound\r\n${FILE}`, "its end is missing"],
  ["cut inside a head", `${MODEL}--bound\r\nContent-Disp`, "its end is missing"],
  ["with two models", `${MODEL}${MODEL}${END}`, '"model" occurs twice'],
  ["with a model in brackets", `${MODEL}${part("Model[0]", "m")}${END}`, "without brackets"],
  ["with a charset of its own", `${MODEL}${part("_charset_", "utf-7")}${END}`, "_charset_"],
  [
    "with parts in a part",
    `${MODEL}${part("prompt", "a").replace("\r\n\r\n", "\r\nContent-Type: multipart/mixed\r\n\r\n")}${END}`,
    "a part has parts",
  ],
  ["with a model in another case", `${MODEL}${part("Model", "m")}${END}`, "only in case"],
  [
    "with a model that is a file",
    `--bound\r\nContent-Disposition: form-data; name="model"; filename="m"\r\n\r\nm\r\n${END}`,
    '"model" is not a file',
  ],
  [
    "with two names of a part",
    `--bound\r\nContent-Disposition: form-data; name="x"; name="model"\r\n\r\nm\r\n${END}`,
    "unclear Content-Disposition",
  ],
  [
    "with an escaped quote",
    `--bound\r\nContent-Disposition: form-data; filename="a\\"; name="model"\r\n\r\nm\r\n${END}`,
    "unclear Content-Disposition",
  ],
  [
    "with an extended name",
    `--bound\r\nContent-Disposition: form-data; name*=utf-8''model\r\n\r\nm\r\n${END}`,
    "unclear Content-Disposition",
  ],
  [
    "with two dispositions",
    `--bound\r\nContent-Disposition: form-data; name="x"\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n${END}`,
    "repeats",
  ],
  [
    "with a boundary after a line feed",
    `${MODEL}${part("prompt", `a\n--bound\nContent-Disposition: form-data; name="model"\n\nm`)}${END}`,
    "a part contains the boundary",
  ],
  [
    "with a longer boundary inside",
    `${MODEL}${part("prompt", "a\r\n--boundary")}${END}`,
    "line break",
  ],
  ["with something after its end", `${MODEL}${END}more`, "something follows"],
  ["with something before it", `x\r\n${MODEL}${END}`, "does not start"],
  [
    "with an encoded part",
    MODEL.replace("\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n") + END,
    "encoded",
  ],
  ["with bytes that are not UTF-8", `${MODEL}${part("prompt", "\xff")}${END}`, "not UTF-8"],
])("a form %s is refused", async (_, body, message) => {
  const before = upstream.received.length;
  const told = await post("/v1/audio/transcriptions", body);
  expect([told.status, JSON.parse(told.body).error.message]).toEqual([
    400,
    expect.stringContaining(message),
  ]);
  expect(upstream.received).toHaveLength(before);
});

it("a body of another type is refused in the provider's format", async () => {
  const told = await post("/v1/audio/transcriptions", "{}", "application/json");
  expect(told.status).toBe(415);
  expect(JSON.parse(told.body).error).toMatchObject({ type: "invalid_request_error" });
});

it("a form is refused by a path that takes JSON", async () => {
  const told = await post("/v1/audio/speech", MODEL + END);
  expect([told.status, JSON.parse(told.body).error.message]).toEqual([
    ...[415, "this path takes application/json"],
  ]);
});

it("two boundaries are refused", async () => {
  const type = "multipart/form-data; boundary=bound; boundary=other";
  expect((await post("/v1/audio/transcriptions", MODEL + END, type)).status).toBe(400);
});

it("a form without a model is refused", async () => {
  const told = await post("/v1/audio/transcriptions", END);
  expect([told.status, JSON.parse(told.body).error.param]).toEqual([400, "model"]);
});
