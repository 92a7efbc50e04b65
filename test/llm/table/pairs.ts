import { askCompletions } from "./completions-client.ts";
import { completionsUpstream } from "./completions-upstream.ts";
import { askConverse } from "./converse-client.ts";
import { converseUpstream } from "./converse-upstream.ts";
import type { Ask } from "./features.ts";
import { askGenerateContent } from "./generate-content-client.ts";
import { generateContentUpstream } from "./generate-content-upstream.ts";
import { askMessages } from "./messages-client.ts";
import { messagesUpstream } from "./messages-upstream.ts";
import { askResponses } from "./responses-client.ts";
import { responsesUpstream } from "./responses-upstream.ts";
import type { Upstream } from "./upstream.ts";

/** The formats of clients, each with its own client, by the names of their folders. */
export const clients: Readonly<Record<string, ClientCase>> = {
  completions: { path: "/v1/chat/completions", ask: askCompletions },
  messages: { path: "/v1/messages", ask: askMessages },
  responses: { path: "/v1/responses", ask: askResponses },
  "generate-content": {
    path: ":generateContent",
    streamPath: ":streamGenerateContent",
    type: "generateContent",
    ask: askGenerateContent,
  },
  converse: { path: "/converse", streamPath: "/converse-stream", ask: askConverse },
};

interface ClientCase {
  /** The path of its requests. */
  readonly path: string;
  /** The path of its streams; absent if it is the same. */
  readonly streamPath?: string;
  /** The type of its traffic; absent if that is its name. */
  readonly type?: string;
  readonly ask: Ask;
}

/** The providers; those that serve several kinds of models with one of each. */
export const providers: readonly ProviderCase[] = [
  { name: "openai", provider: { openai: {} }, model: "gpt-5" },
  { name: "openai, api: responses", provider: { openai: { api: "responses" } }, model: "gpt-5" },
  {
    name: "openai, api: completions",
    provider: { openai: { api: "completions" } },
    model: "gpt-5",
  },
  { name: "openai, api: messages", provider: { openai: { api: "messages" } }, model: "claude-1" },
  { name: "azureopenai", provider: { azureopenai: { host: "a.test" } }, model: "gpt-5" },
  {
    name: "custom, chat completions",
    provider: { custom: { formats: [{ type: "completions" }] } },
    model: "m",
  },
  {
    name: "custom, Responses",
    provider: { custom: { formats: [{ type: "responses" }] } },
    model: "m",
  },
  { name: "vllm", provider: { vllm: {} }, model: "m" },
  { name: "ollama", provider: { ollama: {} }, model: "m" },
  { name: "mistral", provider: { mistral: {} }, model: "m" },
  { name: "deepseek", provider: { deepseek: {} }, model: "m" },
  { name: "openrouter", provider: { openrouter: {} }, model: "m" },
  { name: "anthropic", provider: { anthropic: {} }, model: "claude-1" },
  { name: "gemini", provider: { gemini: {} }, model: "gemini-3-pro-preview" },
  { name: "vertexai, Gemini", provider: { vertexai: { projectId: "p" } }, model: "gemini-2.5-pro" },
  { name: "vertexai, Claude", provider: { vertexai: { projectId: "p" } }, model: "claude-1" },
  {
    name: "bedrock, Claude",
    provider: { bedrock: {} },
    model: "anthropic.claude-1-v1:0",
  },
  { name: "bedrock, Nova", provider: { bedrock: {} }, model: "amazon.nova-pro-v1:0" },
];

/** A provider as a row of the table. */
export interface ProviderCase {
  readonly name: string;
  /** As a file has it. */
  readonly provider: object;
  readonly model: string;
}

/** Returns the API of a request URL. */
export function upstreamAt(url: string): Upstream {
  const [pathname = ""] = url.split("?");
  if (pathname.endsWith("/chat/completions")) return completionsUpstream;
  if (pathname.endsWith("/responses")) return responsesUpstream;
  if (/\/messages$|awPredict$/.test(pathname)) return messagesUpstream;
  if (/:\w+enerateContent$/.test(pathname)) return generateContentUpstream;
  return converseUpstream(pathname.includes("claude"));
}
