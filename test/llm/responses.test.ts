import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { hostOf, startProvider } from "../harness/model-provider.ts";

const replies = [
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

const provided = { openai: { openAI: {} }, anthropic: { anthropic: {} } };
const providers = ["openai", "anthropic"] as const;

/** A gateway whose clients speak the Responses API. */
function startResponses(
  provider: keyof typeof provided,
  host: string,
  policies: object = {},
): Promise<Gateway> {
  return startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { key: "${KEY}" },
              ai: { routes: { "/v1/responses": "responses" }, ...policies },
            },
            backends: [{ ai: { provider: provided[provider], hostOverride: host } }],
          },
        ],
      },
    ],
  });
}

async function startClient(provider: keyof typeof provided): Promise<OpenAI> {
  return openai(await startResponses(provider, hostOf(await startProvider(replies))));
}

function openai({ url }: Gateway): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${url}/v1`, maxRetries: 0 });
}

const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    strict: null,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
];

it.each(providers)("OpenAI's client creates responses with %s", async (provider) => {
  const client = await startClient(provider);
  const whole = await client.responses.create({ model: "m", input: "Hello" });
  expect(whole).toMatchObject({ object: "response", status: "completed" });
  expect(whole.output_text).toBe("Hi there.");
  const stream = client.responses.stream({ model: "m", input: "Hello" });
  const streamed = await stream.finalResponse();
  expect(streamed).toMatchObject({ status: "completed", output_text: "Hi there." });
});

it.each(providers)("calls of tools arrive from %s, whole and streamed", async (provider) => {
  const client = await startClient(provider);
  const calls = [
    { type: "function_call", name: "get_weather", arguments: '{"city":"Paris"}' },
    { type: "function_call", name: "get_weather", arguments: '{"city":"Rome"}' },
  ];
  const request = { model: "m", input: "How is the weather?", tools };
  expect((await client.responses.create(request)).output).toMatchObject(calls);
  const stream = client.responses.stream(request);
  expect((await stream.finalResponse()).output).toMatchObject(calls);
});
