import { beforeAll, expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import { AUDIO, startMedia } from "./media-upstream.ts";

let gateway: Gateway;
/** Ends the response of the upstream that has begun: with the rest, or abruptly. */
let finish: (isWhole: boolean) => void = () => {};

beforeAll(async () => {
  const { host } = await startMedia({
    "/v1/audio/speech": (response) => {
      response.writeHead(200, { "content-type": "audio/mpeg" });
      response.write(AUDIO.subarray(0, 1000));
      finish = (isWhole) => {
        if (isWhole) response.end(AUDIO.subarray(1000));
        else response.destroy();
      };
    },
  });
  gateway = await startAiGateway(host, { "/audio/speech": "speech" });
});

async function begin() {
  const body = JSON.stringify({ model: "tts-1", input: "Hello", voice: "alloy" });
  const headers = { "content-type": "application/json" };
  const url = `${gateway.url}/v1/audio/speech`;
  const { body: audio } = await fetch(url, { method: "POST", headers, body });
  const reader = audio?.getReader();
  const first = await reader?.read();
  return { reader, first: Buffer.from(first?.value ?? []) };
}

it("speech begins before it is complete", async () => {
  const { reader, first } = await begin();
  expect(first).toEqual(AUDIO.subarray(0, 1000));
  finish(true);
  const rest = await reader?.read();
  expect(Buffer.from(rest?.value ?? [])).toEqual(AUDIO.subarray(1000));
  expect((await reader?.read())?.done).toBe(true);
});

it("aborted speech does not look complete", async () => {
  const { reader } = await begin();
  finish(false);
  await expect(reader?.read()).rejects.toThrow();
  await gateway.seen(/operation\.name=speech .*error\.type=server/);
});
