import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, CountTokensCommand } from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

const claude = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";

interface Started extends Scripted {
  readonly client: Anthropic;
}

/** Anthropic's client before Bedrock, which responds with a body. */
async function start(model: string | undefined, status: number, body: object): Promise<Started> {
  const upstream = await startScripted((response) => {
    const type = { "content-type": "application/json" };
    response.writeHead(status, type).end(JSON.stringify(body));
  });
  const { url } = await startAiGateway(
    upstream.host,
    { "/count_tokens": "tokenCount", "*": "messages" },
    { provider: { bedrock: { model } } },
  );
  return { ...upstream, client: new Anthropic({ apiKey: "c", baseURL: url, maxRetries: 0 }) };
}

const messages = [{ role: "user" as const, content: "What's the weather?" }];
const tools = [{ name: "weather", input_schema: { type: "object" as const } }];

it("Bedrock counts the tokens of Claude, including tools", async () => {
  const { client, received, host } = await start(claude, 200, { inputTokens: 42 });
  const betas = ["context-1m-2025-08-07", "prompt-caching-scope-2026-01-05"];
  const counted = await client.beta.messages.countTokens({ model: "m", messages, tools, betas });
  expect(counted).toEqual({ input_tokens: 42 });

  const requestHandler = new NodeHttpHandler();
  const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };
  const aws = new BedrockRuntimeClient({
    endpoint: `http://${host}`,
    region: "eu-west-1",
    credentials,
    requestHandler,
  });
  const invoked = {
    messages,
    tools,
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 1,
    anthropic_beta: ["context-1m-2025-08-07"],
  };
  const body = Buffer.from(JSON.stringify(invoked));
  await aws.send(new CountTokensCommand({ modelId: claude, input: { invokeModel: { body } } }));
  const [own, expected] = received;
  expect(own?.url).toBe(expected?.url);
  expect(JSON.parse(own?.body.toString() ?? "")).toEqual(
    JSON.parse(expected?.body.toString() ?? ""),
  );
});

it("an error of Bedrock's count reaches Anthropic's client in its format", async () => {
  const message = "The provided model doesn't support counting tokens.";
  const { client } = await start(claude, 400, { message });
  const counted = client.messages.countTokens({ model: "m", messages });
  await expect(counted).rejects.toMatchObject({
    status: 400,
    error: { type: "error", error: { type: "invalid_request_error", message } },
  });
});

it.each([
  undefined,
  "amazon.nova-pro-v1:0",
  "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x",
])("tokens are estimated where Bedrock does not count them: %s", async (model) => {
  const { client, received } = await start(model, 200, { inputTokens: 42 });
  const counted = await client.messages.countTokens({ model: "m", messages });
  expect(counted.input_tokens).not.toBe(42);
  expect(received).toEqual([]);
});
