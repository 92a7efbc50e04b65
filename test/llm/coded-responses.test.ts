import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { completion, streamed } from "./llm-upstream.ts";

const CODINGS = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
} as const;

const JSON_TYPE = { "content-type": "application/json" };
const STREAM_TYPE = { "content-type": "text/event-stream" };

/** Starts a gateway to a server that compresses all of its responses, or those bytes of them that `of` returns. */
async function startCoded(
  coding: keyof typeof CODINGS,
  policies: object = {},
  sent: (bytes: Buffer) => Buffer = (bytes) => bytes,
) {
  const server = await startScripted((response, _, { body }) => {
    const isStream = body.includes('"stream":true');
    const bytes = CODINGS[coding](isStream ? streamed.join("") : completion);
    const type = isStream ? STREAM_TYPE : JSON_TYPE;
    response.writeHead(200, { ...type, "content-encoding": coding });
    const all = sent(bytes);
    // In two pieces, so that a decoder has to wait for the second.
    response.write(all.subarray(0, 20), () => response.end(all.subarray(20)));
  });
  const ai = { provider: { openAI: {} }, hostOverride: server.host };
  const routes = { "/v1/chat/completions": "completions", "/v1/messages": "messages" };
  return startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes, ...policies } } }] }] }],
  });
}

function asked(stream: boolean): string {
  const messages = [{ role: "user", content: "Hello" }];
  const options = stream ? { stream_options: { include_usage: true } } : {};
  return JSON.stringify({ model: "gpt-4o", max_tokens: 9, messages, stream, ...options });
}

const MASK = { response: [{ regex: { action: "mask", rules: [{ pattern: "zzz" }] } }] };

describe.each(Object.keys(CODINGS) as (keyof typeof CODINGS)[])("in %s", (coding) => {
  it("a stream of the client's format is forwarded decompressed", async () => {
    const { url } = await startCoded(coding);
    const { status, headers, body } = await send(
      ...([`${url}/v1/chat/completions`, "POST", JSON_TYPE, asked(true)] as const),
    );
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("content-encoding");
    expect(body).toBe(streamed.join(""));
  });

  it("whole and streamed responses are translated", async () => {
    const { url } = await startCoded(coding);
    for (const stream of [false, true]) {
      const { model, max_tokens, messages } = JSON.parse(asked(stream));
      const request = JSON.stringify({ model, max_tokens, messages, stream });
      const { status, body } = await send(`${url}/v1/messages`, "POST", JSON_TYPE, request);
      expect(status).toBe(200);
      expect(body).toContain("end_turn");
    }
  });

  it("whole and streamed responses pass guards", async () => {
    const { url } = await startCoded(coding, { promptGuard: MASK });
    for (const stream of [false, true]) {
      const { status } = await send(
        ...([`${url}/v1/chat/completions`, "POST", JSON_TYPE, asked(stream)] as const),
      );
      expect(status).toBe(200);
    }
  });

  it("a stream that is cut off is an error", async () => {
    const { url } = await startCoded(coding, {}, (bytes) => bytes.subarray(0, 24));
    const { status } = await send(
      ...([`${url}/v1/chat/completions`, "POST", JSON_TYPE, asked(true)] as const),
    );
    expect(status).toBe(502);
  });
});
