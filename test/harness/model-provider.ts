import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LLMock } from "@copilotkit/aimock";
import { atEnd } from "./at-end.ts";
import { type Scripted, startScripted } from "./scripted.ts";

/** What a provider says to a prompt that holds a text. */
export interface ScriptedReply {
  readonly prompt: string;
  readonly response: Parameters<LLMock["on"]>[1];
}

/**
 * A server with the APIs of all providers, which says what a test wants; it is gone at the end of the test. It takes any
 * request by itself: what stands before it takes those that are valid by the provider's own schema.
 */
export async function startProvider(replies: readonly ScriptedReply[]): Promise<Scripted> {
  const server = new LLMock({ port: 0 });
  for (const { prompt, response } of replies) server.on({ userMessage: prompt }, response);
  await server.start();
  atEnd(() => server.stop());
  return startScripted(async (response, _, { method, url, body }) => {
    const said = await fetch(`${server.url}${url}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(method === "POST" && { body }),
    });
    const type = said.headers.get("content-type") ?? "application/json";
    response.writeHead(said.status, { "content-type": type });
    if (said.body === null) response.end();
    else await pipeline(Readable.fromWeb(said.body), response).catch(() => response.destroy());
  });
}
