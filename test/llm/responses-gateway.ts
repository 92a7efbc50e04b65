import OpenAI from "openai";
import { startAiGateway } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

/** The responses of providers. */
export const replies = [
  { prompt: "Hello", response: { content: "Hi there." } },
  {
    prompt: "weather",
    response: {
      toolCalls: [
        { name: "get_weather", arguments: '{"city":"Paris"}' },
        { name: "get_weather", arguments: '{"city":"Rome"}' },
      ],
    },
  },
];

/** Providers by their names. */
export const provided = { openai: { openAI: {} }, anthropic: { anthropic: {} } };

/** The names. */
export const providers = ["openai", "anthropic"] as const;

/** A gateway whose clients speak the Responses API. */
export function startResponses(
  name: keyof typeof provided,
  host: string,
  ai: object = {},
): Promise<Gateway> {
  const routes = { "/v1/responses": "responses" };
  return startAiGateway(host, routes, { provider: provided[name], ai });
}

/** OpenAI's client of a gateway before this provider. */
export async function startClient(provider: keyof typeof provided): Promise<OpenAI> {
  return openai(await startResponses(provider, (await startProvider(replies)).host));
}

/** OpenAI's client of a gateway. */
export function openai({ url }: Gateway): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${url}/v1`, maxRetries: 0 });
}
