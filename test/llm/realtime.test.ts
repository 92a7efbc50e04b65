import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { upgradeResponse } from "../harness/echo-frame.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";

/** A frame of a server (RFC 6455 5.2). */
function frame(kind: number, payload: string, isFinal = true): Buffer {
  const bytes = Buffer.from(payload);
  const head =
    bytes.length < 126
      ? Buffer.from([0, bytes.length])
      : Buffer.from([0, 126, bytes.length >> 8, bytes.length & 0xff]);
  head[0] = kind | (isFinal ? 0x80 : 0);
  return Buffer.concat([head, bytes]);
}

function done(input: number, output: number): string {
  const usage = {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: {
      ...{ cached_tokens: 3, text_tokens: input - 5, audio_tokens: 5 },
      cached_tokens_details: { text_tokens: 2, audio_tokens: 1 },
    },
    output_token_details: { text_tokens: output - 2, audio_tokens: 2 },
  };
  const item = { type: "message", content: [{ type: "audio", transcript: "word ".repeat(60) }] };
  return JSON.stringify({ type: "response.done", response: { id: "r", output: [item], usage } });
}

/** A Realtime server whose messages come in pieces of every kind. */
async function startRealtime() {
  const requests: IncomingMessage[] = [];
  const server = createServer();
  server.on("upgrade", (request, socket: Socket) => {
    requests.push(request);
    socket.on("error", () => {});
    socket.write(upgradeResponse(request, "websocket", ["Sec-WebSocket-Protocol: realtime"]));
    const first = done(10, 4);
    const bytes = Buffer.concat([
      frame(1, '{"type":"session.created"}'),
      frame(1, first.slice(0, 50), false),
      frame(9, "ping"),
      frame(0, first.slice(50)),
      frame(2, done(1000, 1000)),
      frame(1, done(20, 6)),
    ]);
    // A byte at a time; the last ones together.
    for (const byte of bytes.subarray(0, 200)) socket.write(Buffer.from([byte]));
    socket.write(bytes.subarray(200));
    socket.on("data", (chunk: Buffer) => {
      // The pong and the close may arrive in one chunk.
      if (chunk.includes(0x88)) socket.end();
    });
  });
  return { host: `127.0.0.1:${await listen(server)}`, requests };
}

function startBefore(host: string, openAI: object = {}): Promise<Gateway> {
  return startProviderBefore(host, { openAI });
}

function startProviderBefore(
  host: string,
  provider: object,
  policies: object = {},
): Promise<Gateway> {
  const ai = { modelAliases: { voice: "gpt-realtime" } };
  return startAiGateway(host, { "/v1/realtime": "realtime" }, { provider, ai, policies });
}

it("a WebSocket of the Realtime API reaches the provider, and its tokens are counted", async () => {
  const { host, requests } = await startRealtime();
  const gateway = await startBefore(host);
  const url = `ws://127.0.0.1:${gateway.port}/v1/realtime?intent=x&model=voice`;
  const socket = new WebSocket(url, ["realtime", "openai-insecure-api-key.client-key"]);
  onTestFinished(() => socket.close());
  const received: unknown[] = [];
  socket.onmessage = ({ data }) => received.push(data);
  await eventually(() => (received.length === 4 ? true : null), "four messages");
  expect(received[0]).toBe('{"type":"session.created"}');
  expect(received[1]).toBe(done(10, 4));
  expect(received[3]).toBe(done(20, 6));
  socket.close();
  const [line] = await gateway.seen(/.*http\.path=\/v1\/realtime .*/);
  expect(line).toMatch(/gen_ai\.provider\.name=openai/);
  expect(line).toMatch(/gen_ai\.usage\.input_tokens=30 gen_ai\.usage\.output_tokens=10/);
  const [{ url: asked = "", headers } = {}] = requests;
  expect(asked).toBe("/v1/realtime?model=gpt-realtime&intent=x");
  expect(headers).toMatchObject({
    authorization: "Bearer provider-key",
    "sec-websocket-protocol": "realtime",
  });
  expect(headers).not.toHaveProperty("sec-websocket-extensions");
});

it("costs what the catalog says of text and audio", async () => {
  const { host } = await startRealtime();
  const rates = { input: 4, output: 16, cacheRead: 0.4, inputAudio: 32, outputAudio: 64 };
  const models = { "gpt-realtime": { rates } };
  const gateway = await startGateway({
    env: { KEY: "provider-key" },
    file: { config: { modelCatalog: [{ inline: { providers: { openai: { models } } } }] } },
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { key: "${KEY}" },
              ai: { routes: { "/v1/realtime": "realtime" } },
            },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
          },
        ],
      },
    ],
  });
  const url = `ws://127.0.0.1:${gateway.port}/v1/realtime?model=gpt-realtime`;
  const socket = new WebSocket(url, ["realtime"]);
  onTestFinished(() => socket.close());
  let received = 0;
  socket.onmessage = () => {
    received += 1;
  };
  await eventually(() => (received === 4 ? true : null), "four messages");
  socket.close();
  // 10 and 20 tokens of input, each with 3 cached ones and 4 of audio besides; 4 and 6 of output, each with 2 of audio.
  await gateway.seen(/http\.path=\/v1\/realtime .*gen_ai\.cost=0\.0006744( |$)/m);
  const stats = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  expect(await stats.text()).toMatch(/gwc_llm_cost_total\{[^}]*"gpt-realtime"[^}]*\} 0\.000674/);
});

it("the model of the configuration is asked for whatever the client names", async () => {
  const { host, requests } = await startRealtime();
  const gateway = await startBefore(host, { model: "gpt-fixed" });
  const socket = new WebSocket(
    `ws://127.0.0.1:${gateway.port}/v1/realtime?model=voice`,
    "realtime",
  );
  onTestFinished(() => socket.close());
  await eventually(() => requests[0] ?? null, "a request");
  expect(requests[0]?.url).toBe("/v1/realtime?model=gpt-fixed");
});

it("a request to the Realtime API that is no WebSocket is refused in its format", async () => {
  const gateway = await startBefore("127.0.0.1:9");
  const { status, headers, body } = await send(`${gateway.url}/v1/realtime?model=voice`, "GET");
  expect(status).toBe(426);
  expect(headers).toMatchObject({ upgrade: "websocket" });
  expect(JSON.parse(body)).toMatchObject({ error: { type: "invalid_request_error" } });
});

it("Azure has the Realtime API below its own path, by the key of the resource", async () => {
  const { host, requests } = await startRealtime();
  const azure = { endpoint: "res.openai.azure.com", deploymentName: "voice-1" };
  const gateway = await startProviderBefore(host, { azureOpenAI: azure });
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime`, "realtime");
  onTestFinished(() => socket.close());
  const { url, headers } = await eventually(() => requests[0] ?? null, "a request");
  expect(url).toBe("/openai/v1/realtime?model=voice-1");
  expect(headers).toMatchObject({ "api-key": "provider-key" });
});

it("the tokens of a WebSocket are taken from limits: one that is used up lets no other in", async () => {
  const { host } = await startRealtime();
  // Both responses have 40 together.
  const localRateLimit = [{ tokens: 40, unit: "Days" }];
  const gateway = await startProviderBefore(host, { openAI: {} }, { localRateLimit });
  const url = `ws://127.0.0.1:${gateway.port}/v1/realtime?model=voice`;
  const socket = new WebSocket(url, ["realtime"]);
  onTestFinished(() => socket.close());
  let count = 0;
  socket.onmessage = () => {
    count += 1;
  };
  await eventually(() => (count === 4 ? true : null), "four messages");
  const failed = new Promise((resolve) => {
    new WebSocket(url, ["realtime"]).onerror = resolve;
  });
  await failed;
  await gateway.seen(/http\.status=429 .*reason=RateLimit/);
});
