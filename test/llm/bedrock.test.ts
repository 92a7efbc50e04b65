import {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { awsException } from "../harness/aws-event-stream.ts";
import { expectedSignature } from "../harness/aws-signature.ts";
import { type ConverseBody, converseStream, type Wire } from "../harness/bedrock.ts";
import { startScripted } from "../harness/scripted.ts";
import { claude, hello, keys, start, toolStream } from "./bedrock-gateway.ts";

it("OpenAI's client can use Bedrock with signed requests", async () => {
  const { openai, received, body } = await start();
  const model = "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-x";
  const completion = await openai.chat.completions.create({
    model,
    messages: [{ role: "system", content: "Be kind." }, ...hello],
    max_tokens: 100,
    temperature: 1.5,
    stop: ["END"],
  });
  expect(completion).toMatchObject({
    model,
    choices: [{ message: { content: "Hi there." }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 20,
      completion_tokens: 7,
      total_tokens: 27,
      prompt_tokens_details: { cached_tokens: 12 },
    },
  });
  const [request] = received;
  if (request === undefined) throw new Error("nothing was received");
  expect(request.url).toBe(`/model/${encodeURIComponent(model)}/converse`);
  expect(request.headers.authorization).toBe(
    await expectedSignature(request, keys, { region: "eu-west-1", service: "bedrock" }),
  );
  expect(body()).toEqual({
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
    system: [{ text: "Be kind." }],
    inferenceConfig: { maxTokens: 100, temperature: 1, stopSequences: ["END"] },
  } satisfies ConverseBody);
});

it("a stream with text and parallel tools reaches either client", async () => {
  const started = await start();
  started.reply = { body: toolStream };
  const { openai, anthropic, received } = started;
  const tool = { name: "weather", parameters: { type: "object", properties: {} } };
  const completion = await openai.chat.completions
    .stream({ model: claude, messages: hello, tools: [{ type: "function", function: tool }] })
    .finalChatCompletion();
  expect(completion.choices[0]).toMatchObject({
    message: {
      content: "Let me see ✓",
      tool_calls: [
        { id: "t1", function: { name: "weather", arguments: '{"city":"Paris"}' } },
        { id: "t2", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      ],
    },
    finish_reason: "tool_calls",
  });
  const message = await anthropic.messages
    .stream({ model: claude, max_tokens: 100, messages: hello })
    .finalMessage();
  expect(message).toMatchObject({
    content: [
      { type: "text", text: "Let me see ✓" },
      { type: "tool_use", id: "t1", input: { city: "Paris" } },
      { type: "tool_use", id: "t2", input: { city: "Rome" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 7 },
  });
  expect(received[0]?.url).toBe(`/model/${encodeURIComponent(claude)}/converse-stream`);
});

it("AWS's own client reads the stream that these tests send", async () => {
  const server = await startScripted((response) =>
    response
      .writeHead(200, { "content-type": "application/vnd.amazon.eventstream" })
      .end(toolStream),
  );
  const client = new BedrockRuntimeClient({
    region: "eu-west-1",
    credentials: keys,
    endpoint: `http://${server.host}`,
    requestHandler: new NodeHttpHandler(),
  });
  const { stream } = await client.send(
    new ConverseStreamCommand({ modelId: claude, messages: [] }),
  );
  const names: string[] = [];
  for await (const event of stream ?? []) names.push(...Object.keys(event));
  expect(names).toEqual([
    "messageStart",
    ...["contentBlockDelta", "contentBlockDelta", "contentBlockStop"],
    ...["contentBlockStart", "contentBlockDelta", "contentBlockDelta", "contentBlockStop"],
    ...["contentBlockStart", "contentBlockDelta", "contentBlockStop"],
    ...["messageStop", "metadata"],
  ]);
});

const words = Array.from({ length: 10 }, () => "word").join(" ");

it("the configured cache points are placed after long parts, for models that cache", async () => {
  const caching = { promptCaching: { cacheTools: true, minTokens: 20 } };
  const { openai, body } = await start({}, caching);
  const request = {
    messages: [
      { role: "system" as const, content: words },
      { role: "user" as const, content: words },
      { role: "assistant" as const, content: words },
      { role: "user" as const, content: "And?" },
    ],
    tools: [{ type: "function" as const, function: { name: "t", description: words } }],
  };
  await openai.chat.completions.create({ ...request, model: claude });
  const point = { cachePoint: { type: "default" } };
  const sent = body() as ConverseBody;
  // Tools alone are below the least size, tools and system are not.
  expect(sent.toolConfig?.tools).toHaveLength(1);
  expect(sent.system).toEqual([{ text: words }, point]);
  expect(sent.messages?.map(({ content }) => content?.length)).toEqual([1, 2, 1]);
  expect(sent.messages?.[1]?.content?.[1]).toEqual(point);
  for (const model of ["anthropic.claude-v2:1", "meta.llama3-3-70b-instruct-v1:0"]) {
    await openai.chat.completions.create({ ...request, model });
    expect(JSON.stringify(body())).not.toContain("cachePoint");
  }
});

it.each([
  [400, "ValidationException", "bad", 400, "invalid_request_error"],
  [400, "ValidationException", "Input is too long for requested model.", 400, "context"],
  [403, "AccessDeniedException", "arn:aws:sts::1:role/x", 403, "permission"],
  [403, "InvalidSignatureException", "signature", 502, "rejected the gateway's credentials"],
  [404, "ResourceNotFoundException", "no model", 404, "no model"],
  [429, "ThrottlingException", "slow down", 429, "rate_limit"],
  [400, "ServiceQuotaExceededException", "quota", 429, "quota"],
  [503, "ServiceUnavailableException", "busy", 503, "busy"],
])("%s %s is reported in the client's format", async (status, name, message, expected, text) => {
  const started = await start();
  started.reply = {
    status,
    headers: { "x-amzn-errortype": `${name}:http://internal.amazon.com/` },
    body: JSON.stringify({ message }),
  };
  const error = await started.openai.chat.completions
    .create({ model: claude, messages: hello })
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({ status: expected });
  expect(JSON.stringify(error)).toContain(text);
  expect(JSON.stringify(error)).not.toContain("arn:");
});

const begun = converseStream([
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hello" } } },
] as Wire<ConverseStreamOutput>[]);
const damaged = Buffer.from(begun);
damaged[damaged.length - 6] = 0x21;

it.each([
  [
    "an exception",
    Buffer.concat([begun, awsException("throttlingException", "slow down")]),
    "slow",
  ],
  ["a cut", begun, "before it was complete"],
  ["a cut inside a message", begun.subarray(0, -3), "before it was complete"],
  ["a bad checksum", Buffer.concat([begun, damaged]), "damaged"],
  ["an endless message", Buffer.concat([begun, Buffer.alloc(12, 0xff)]), "damaged"],
])("%s in a stream is an error for either client", async (_, body, text) => {
  const started = await start();
  started.reply = { body };
  const { openai, anthropic } = started;
  const completion = openai.chat.completions.stream({ model: claude, messages: hello });
  await expect(completion.finalChatCompletion()).rejects.toThrow(text);
  const message = anthropic.messages.stream({ model: claude, max_tokens: 9, messages: hello });
  await expect(message.finalMessage()).rejects.toThrow(text);
});

it("a Bedrock API key is sent in Authorization without a signature", async () => {
  const { gateway, received } = await start({}, {}, { key: "${KEY}" });
  const openai = new OpenAI({ apiKey: "client", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  await openai.chat.completions.create({ model: claude, messages: hello });
  expect(received[0]?.headers.authorization).toBe("Bearer bedrock-key");
  expect(received[0]?.headers["x-amz-date"]).toBeUndefined();
});

it("OpenAI's client gets responses of Bedrock", async () => {
  const { openai } = await start();
  const response = await openai.responses.create({ model: claude, input: "Hello" });
  expect(response.output_text).toBe("Hi there.");
});
