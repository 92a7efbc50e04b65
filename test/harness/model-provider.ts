import { LLMock } from "@copilotkit/aimock";
import { atEnd } from "./at-end.ts";

/** What a provider says to a prompt that holds a text. */
export interface ScriptedReply {
  readonly prompt: string;
  readonly response: Parameters<LLMock["on"]>[1];
}

/** A server with the APIs of all providers, which says what a test wants; it is gone at the end of the test. */
export async function startProvider(replies: readonly ScriptedReply[]): Promise<LLMock> {
  const server = new LLMock({ port: 0 });
  for (const { prompt, response } of replies) server.on({ userMessage: prompt }, response);
  await server.start();
  atEnd(() => server.stop());
  return server;
}

/** `host:port` of a provider. */
export function hostOf({ url }: LLMock): string {
  return new URL(url).host;
}
