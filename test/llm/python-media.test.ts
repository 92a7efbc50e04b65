import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { pythonFor } from "../harness/python.ts";
import { startStore } from "./batch-upstream.ts";
import { AUDIO, startMedia } from "./media-upstream.ts";

it("Python's clients speak, transcribe, edit images and send batches", async () => {
  const python = await pythonFor("tests");
  const [media, store] = await Promise.all([startMedia(), startStore()]);
  const model = (name: string, provider: string, host: string, own: string) => ({
    ...{ name, provider },
    params: { apiKey: "${KEY}", hostOverride: host, model: own },
  });
  const gateway = await startGateway({
    env: { KEY: "provider-key", ANN: "ann-key" },
    config: {
      llm: {
        port: await freePort(),
        apis: ["audio", "images", "batches"],
        policies: { apiKey: { keys: [{ key: "${ANN}" }] } },
        models: [
          model("voice", "openAI", media.host, "tts-1"),
          model("ears", "openAI", media.host, "gpt-4o-transcribe"),
          model("pictures", "openAI", media.host, "gpt-image-1"),
          model("small", "openAI", store.host, "gpt-5-mini"),
          model("claude", "anthropic", store.host, "claude-haiku-4-5"),
        ],
      },
    },
  });
  const script = path.join(import.meta.dirname, "python/media.py");
  const { stdout } = await promisify(execFile)(python, [script, gateway.url]);
  expect(JSON.parse(stdout)).toEqual({
    speech: AUDIO.length,
    transcription: "Mail ann@example.com now.",
    events: ["transcript.text.delta", "transcript.text.delta", "transcript.text.done"],
    images: 1,
    same: true,
    output: '{"custom_id":"a"}\n',
    results: ["a"],
  });
}, 300_000);
