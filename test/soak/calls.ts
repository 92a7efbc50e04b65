import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";
import { textOf } from "./contents.ts";
import type { Target, Traffic } from "./traffic.ts";

/** Traffic of MCP clients, clients of models, and WebSockets. */
export const callTraffic: readonly Traffic[] = [
  { name: "MCP session", every: 2_000, exchange: callTools, lines: 0 },
  { name: "model stream", every: 1_000, exchange: (target, id) => chat(target, id, "same") },
  {
    name: "model stream, translated",
    every: 1_000,
    exchange: (target, id) => chat(target, id, "other"),
  },
  { name: "WebSocket", every: 1_000, exchange: exchangeFrames },
];

/** Calls of one session, and messages of one WebSocket. */
const CALLS = 10;
const FRAMES = 20;

async function callTools({ http }: Target, id: string): Promise<void> {
  const client = new Client({ name: "soak", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${http}/mcp`));
  // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  for (let call = 0; call < CALLS; call++) await callTool(client, `${id}-${call}`);
  await transport.terminateSession();
  await client.close();
}

async function callTool(client: Client, text: string): Promise<void> {
  const progress: unknown[] = [];
  const onprogress = ({ message }: { readonly message?: string | undefined }) =>
    void progress.push(message);
  const call = { name: "echo", arguments: { text } };
  const { content } = await client.callTool(call, undefined, { onprogress });
  const [found] = Array.isArray(content) ? content : [];
  if (found?.text !== text) throw new Error(`${JSON.stringify(content)} instead of ${text}`);
  if (progress.join() !== text) throw new Error(`progress ${progress} instead of ${text}`);
}

async function chat({ http }: Target, id: string, provider: string): Promise<void> {
  const baseURL = `http://127.0.0.1:${http}/${provider}/${id}/v1`;
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: "gpt-5",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: `Repeat ${id}` }],
  });
  let [text, tokens] = ["", 0];
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta.content ?? "";
    tokens += usage?.completion_tokens ?? 0;
  }
  const expected = textOf(id);
  if (text !== expected.join("")) throw new Error(`the text is "${text}"`);
  if (tokens !== expected.length) throw new Error(`${tokens} tokens`);
}

async function exchangeFrames({ http }: Target, id: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${http}/socket/${id}`);
  let frame = 0;
  await new Promise((resolve, reject) => {
    const next = () => (frame < FRAMES ? socket.send(`${id} ${frame}`) : socket.close());
    socket.onopen = next;
    socket.onmessage = ({ data }) => {
      if (data !== `${id} ${frame}`) reject(new Error(`another message than "${id} ${frame}"`));
      frame += 1;
      next();
    };
    socket.onclose = resolve;
    socket.onerror = reject;
  });
  if (frame < FRAMES) throw new Error(`the socket was closed after ${frame} messages`);
}
