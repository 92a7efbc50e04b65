import type { ServerResponse } from "node:http";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";

/** A whole completion. */
export const completion = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-real",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hi.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: {
    prompt_tokens: 20,
    completion_tokens: 5,
    total_tokens: 25,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
});

/** The event of a chunk of a streamed completion. */
export function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const value = { id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-real" };
  return `data: ${JSON.stringify({ ...value, choices })}\n\n`;
}

/** The event of the last chunk, which counts the tokens. */
export function usageChunk(choices: readonly object[] = []): string {
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
  const value = { id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-real" };
  return `data: ${JSON.stringify({ ...value, choices, usage })}\n\n`;
}

/** The events of a whole streamed completion: "Hi", " there." */
export const streamed: readonly string[] = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Hi" }),
  chunk({ content: " there." }),
  chunk({}, "stop"),
  usageChunk(),
  "data: [DONE]\n\n",
];

/** Starts an event stream. */
export function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

/** Responds with a completion, streamed when that was asked for. */
export function complete(response: ServerResponse, { body }: Received): void {
  if (JSON.parse(body.toString()).stream === true) {
    startStream(response);
    response.end(streamed.join(""));
  } else {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(completion);
  }
}

/** Responds with an error as OpenAI's servers write it. */
export function fail(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message: `it failed with ${status}` } }));
}

/** A provider that completes everything. */
export function startHealthy(): Promise<Scripted> {
  return startScripted((response, _, request) => complete(response, request));
}
