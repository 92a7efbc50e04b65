import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { echoFrame, upgradeResponse } from "../harness/echo-frame.ts";
import { listen } from "../harness/listen.ts";
import { bodyOf, eventOf, textOf } from "./contents.ts";
import { handleMcp } from "./mcp-server.ts";

/** Requests and spans that the servers of a soak have received. */
export interface Received {
  /** How often each request has come, by the id in its path. */
  readonly requests: Map<string, number>;
  /** Ids of spans. */
  readonly spans: Set<string>;
  /** Spans whose id had come before. */
  repeatedSpans: number;
}

/**
 * Starts the backends of all kinds of traffic, and the collector of spans, on one port. Contents depend on the id in the path
 * or the prompt, so that clients can check every byte.
 */
export async function startServers(): Promise<{
  readonly port: number;
  readonly received: Received;
}> {
  const received: Received = { requests: new Map(), spans: new Set(), repeatedSpans: 0 };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    request.on("error", () => {});
    respond(request, response, received).catch((error: unknown) =>
      response.destroy(asError(error)),
    );
  });
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    note(received, request);
    socket.on("error", () => {});
    socket.write(upgradeResponse(request));
    socket.on("data", (frame: Buffer) => {
      socket.write(echoFrame(frame));
      if (frame[0] === 0x88) socket.end();
    });
  });
  return { port: await listen(server), received };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
): Promise<void> {
  const [path = ""] = (request.url ?? "").split("?");
  const [, kind = "", id = ""] = path.split("/");
  if (kind === "mcp") return handleMcp(request, response);
  const body = await bytesOf(request);
  if (path === "/v1/traces") {
    noteSpans(received, body);
    response.end();
    return;
  }
  if (kind === "v1") return sendCompletion(path, body, response);
  note(received, request);
  if (kind === "events") return sendEvents(id, countOf(request), response);
  const content = kind === "echo" ? body : bodyOf(id, countOf(request));
  response.writeHead(200, { "content-length": content.length }).end(content);
}

function note({ requests }: Received, request: IncomingMessage): void {
  const id = request.url?.split(/[/?]/)[2] ?? "";
  requests.set(id, (requests.get(id) ?? 0) + 1);
}

/** Notes the spans of a request of OTLP/HTTP in JSON. */
function noteSpans(received: Received, body: Buffer): void {
  for (const [, id = ""] of body.toString("latin1").matchAll(/"spanId":"(\w{16})"/g)) {
    if (received.spans.has(id)) received.repeatedSpans += 1;
    received.spans.add(id);
  }
}

async function sendEvents(id: string, count: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let i = 0; i < count; i++) {
    response.write(eventOf(id, i));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  response.end();
}

/** Streams a completion of OpenAI or Anthropic whose text depends on the id in the prompt. */
async function sendCompletion(path: string, body: Buffer, response: ServerResponse): Promise<void> {
  const id = /soak-[\w-]+/.exec(body.toString())?.[0] ?? "";
  const pieces = textOf(id);
  const events = path.endsWith("/messages") ? messageEvents(pieces) : completionEvents(pieces);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    response.write(event);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  response.end();
}

function completionEvents(pieces: readonly string[]): readonly string[] {
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-5", ...fields })}\n\n`;
  const choice = (delta: object, finish_reason: string | null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason }] });
  const usage = {
    prompt_tokens: 10,
    completion_tokens: pieces.length,
    total_tokens: 10 + pieces.length,
  };
  return [
    choice({ role: "assistant", content: "" }, null),
    ...pieces.map((content) => choice({ content }, null)),
    choice({}, "stop"),
    chunk({ choices: [], usage }),
    "data: [DONE]\n\n",
  ];
}

function messageEvents(pieces: readonly string[]): readonly string[] {
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = { input_tokens: 10, output_tokens: pieces.length };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-5" };
  return [
    event("message_start", { message: { ...message, content: [], usage } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...pieces.map((text) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
    event("message_stop", {}),
  ];
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function countOf(request: IncomingMessage): number {
  return Number(/\?(\d+)$/.exec(request.url ?? "")?.[1] ?? 0);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
