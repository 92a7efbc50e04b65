import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LLMock } from "@copilotkit/aimock";
import { atEnd } from "./at-end.ts";
import { type Scripted, startScripted } from "./scripted.ts";

/** Response of a provider to a prompt that contains a string. */
export interface ScriptedReply {
  readonly prompt: string;
  readonly response: Parameters<LLMock["on"]>[1];
}

/**
 * A server with the APIs of all providers, which gives the response that a test chooses and ends with the test. It
 * accepts any request itself: the layer in front of it accepts those that are valid by the provider's own schema, unless
 * fields are newer than that.
 */
export async function startProvider(
  replies: readonly ScriptedReply[],
  takes: "valid" | "anything" = "valid",
): Promise<Scripted> {
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
  }, takes);
}
