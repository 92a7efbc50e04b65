import type { ServerResponse } from "node:http";
import { type ProviderSchema, requestProblems } from "../harness/provider-schema.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";

/** Audio that the upstream sends. */
export const AUDIO = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 251));

/** A file of a WAVE header and noise, with the bytes that a careless parser would split at. */
export const WAVE = Buffer.concat([
  Buffer.from("RIFF\x24\x08\x00\x00WAVEfmt \r\n--\r\n\r\n--x--\r\n", "latin1"),
  AUDIO,
]);

const SCHEMAS: Readonly<Record<string, string>> = {
  "/v1/audio/speech": "CreateSpeechRequest",
  "/v1/audio/transcriptions": "CreateTranscriptionRequest",
  "/v1/audio/translations": "CreateTranslationRequest",
  "/v1/images/generations": "CreateImageRequest",
  "/v1/images/edits": "CreateImageEditRequest",
  "/v1/images/variations": "CreateImageVariationRequest",
  "/v1/moderations": "CreateModerationRequest",
};

/** Fields of forms that are numbers, by OpenAI's schemas. */
const NUMBERS: ReadonlySet<string> = new Set(["n", "temperature", "partial_images"]);

/** A form as the upstream read it: fields, and the bytes of files. */
export interface ReadForm {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, Buffer>>;
}

/** Reads a form with undici, which is not the gateway's parser. */
export async function readForm({ headers, body }: Received): Promise<ReadForm> {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": type },
  }).formData();
  const fields: Record<string, unknown> = {};
  const files: Record<string, Buffer> = {};
  for (const [key, value] of form) {
    const name = key.replace(/\[\]$/, "");
    if (typeof value !== "string") {
      files[name] = Buffer.from(await value.arrayBuffer());
      fields[name] = "file";
    } else if (key.endsWith("[]")) {
      const before = fields[name];
      fields[name] = [...(Array.isArray(before) ? before : []), value];
    } else fields[name] = NUMBERS.has(key) ? Number(value) : value === "true" ? true : value;
  }
  return { fields, files };
}

/** Answers of an upstream, by path. */
export type Answers = Readonly<
  Record<string, (response: ServerResponse, fields: Readonly<Record<string, unknown>>) => void>
>;

/** Starts a provider with OpenAI's APIs for media, which refuses what is not valid by OpenAI's own schemas. */
export function startMedia(answers: Answers = {}): Promise<Scripted> {
  return startScripted(async (response, _, request) => {
    const path = request.url.split("?")[0] ?? "";
    const isForm = request.headers["content-type"]?.startsWith("multipart/form-data") === true;
    const fields = isForm
      ? (await readForm(request)).fields
      : JSON.parse(request.body.toString("utf8"));
    const name = SCHEMAS[path];
    const problems = name === undefined ? [] : requestProblems(schemaOf(name), fields);
    const answer = { ...ANSWERS, ...answers }[path];
    if (request.headers.authorization !== "Bearer provider-key") refuse(response, 401, "no key");
    else if (problems.length > 0) refuse(response, 400, problems.join("; "));
    else if (answer === undefined) refuse(response, 404, `no ${path}`);
    else answer(response, fields);
  }, "anything");
}

function schemaOf(name: string): ProviderSchema {
  return ["openai", name];
}

function refuse(response: ServerResponse, status: number, message: string): void {
  json(
    response,
    { error: { message, type: "invalid_request_error", param: null, code: null } },
    status,
  );
}

/** Responds with JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req-1" });
  response.end(JSON.stringify(value));
}

/** Responds with a stream of events. */
export function events(
  response: ServerResponse,
  ...all: readonly { readonly type: string }[]
): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const each of all) response.write(`event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
  response.end();
}

const TOKENS = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
const IMAGE = Buffer.from("a picture").toString("base64");

const ANSWERS: Answers = {
  "/v1/audio/speech": (response, { stream_format: format }) => {
    if (format === "sse") {
      const audio = AUDIO.toString("base64");
      events(
        response,
        Object.assign({ type: "speech.audio.delta" }, { audio }),
        Object.assign({ type: "speech.audio.done" }, { usage: TOKENS }),
      );
      return;
    }
    response.writeHead(200, { "content-type": "audio/mpeg" });
    response.write(AUDIO.subarray(0, 1000));
    response.end(AUDIO.subarray(1000));
  },
  "/v1/audio/transcriptions": transcribe,
  "/v1/audio/translations": transcribe,
  "/v1/images/generations": (response, { stream, n = 1 }) => {
    if (stream === true) imageEvents(response, "image_generation");
    else json(response, { created: 1, data: Array(n).fill({ b64_json: IMAGE }), usage: TOKENS });
  },
  "/v1/images/edits": (response, { stream }) => {
    if (stream === true) imageEvents(response, "image_edit");
    else json(response, { created: 1, data: [{ b64_json: IMAGE }], usage: TOKENS });
  },
  "/v1/images/variations": (response) =>
    json(response, { created: 1, data: [{ url: "https://x" }] }),
  "/v1/moderations": (response, { model }) =>
    json(response, { id: "modr-1", model, results: [{ flagged: false, categories: {} }] }),
  "/v1/rerank": (response, { documents }) => {
    const all = Array.isArray(documents) ? documents : [];
    const results = all.map((text, index) => ({
      index,
      relevance_score: 1 / (index + 1),
      document: { text },
    }));
    json(response, { id: "rerank-1", model: "rank-1", results, usage: { total_tokens: 21 } });
  },
};

function imageEvents(response: ServerResponse, kind: string): void {
  events(
    response,
    Object.assign({ type: `${kind}.partial_image` }, { b64_json: IMAGE, partial_image_index: 0 }),
    Object.assign({ type: `${kind}.completed` }, { b64_json: IMAGE, usage: TOKENS }),
  );
}

function transcribe(
  response: ServerResponse,
  { response_format: format, stream, model }: Readonly<Record<string, unknown>>,
): void {
  const text = "Mail ann@example.com now.";
  if (stream === true && model !== "whisper-1") {
    events(
      response,
      Object.assign({ type: "transcript.text.delta" }, { delta: "Mail ann@exa" }),
      Object.assign({ type: "transcript.text.delta" }, { delta: "mple.com now." }),
      Object.assign(
        { type: "transcript.text.done" },
        { text, usage: { type: "tokens", ...TOKENS } },
      ),
    );
  } else if (format === "srt" || format === "vtt" || format === "text") {
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
    response.end(`1\n00:00:00,000 --> 00:00:02,000\n${text}\n`);
  } else if (format === "verbose_json") {
    const segments = [{ id: 0, start: 0, end: 2, text, tokens: [1, 2, 3] }];
    const words = ["Mail", "ann@example.com", "now."].map((word) => ({ word, start: 0, end: 1 }));
    const usage = { type: "duration", seconds: 2 };
    json(response, {
      task: "transcribe",
      language: "en",
      duration: 2,
      text,
      segments,
      words,
      usage,
    });
  } else json(response, { text, usage: { type: "tokens", ...TOKENS } });
}
