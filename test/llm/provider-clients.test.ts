import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  ThrottlingException,
} from "@aws-sdk/client-bedrock-runtime";
import { ApiError, type GenerateContentResponse, GoogleGenAI } from "@google/genai";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { expect, it } from "vitest";
import { startScripted } from "../harness/scripted.ts";
import { calls, type Feature, script } from "./table/features.ts";
import { respond } from "./table/respond.ts";

/** Clients of OpenAI and Anthropic read these servers through the gateway: where both sides speak one format, bytes pass. */
async function startGoogle(): Promise<GoogleGenAI> {
  const { host } = await startScripted(respond);
  return new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: `http://${host}` } });
}

function googleRequest(feature: Feature) {
  return { model: "gemini-2.5-pro", contents: `[${feature}]` };
}

function argumentsOf({ functionCalls = [] }: GenerateContentResponse): readonly unknown[] {
  return functionCalls.map(({ args }) => args);
}

it("Google's own client reads the servers of Gemini that these tests have", async () => {
  const { models } = await startGoogle();
  expect((await models.generateContent(googleRequest("text"))).text).toBe(script.text);
  let text = "";
  for await (const piece of await models.generateContentStream(googleRequest("text")))
    text += piece.text ?? "";
  expect(text).toBe(script.text);
  const inputs = calls.map(({ input }) => input);
  const called = await models.generateContent(googleRequest("parallel tools"));
  expect(argumentsOf(called)).toEqual(inputs);
  const streamed: unknown[] = [];
  for await (const piece of await models.generateContentStream(googleRequest("parallel tools")))
    streamed.push(...argumentsOf(piece));
  expect(streamed).toEqual(inputs);
  const limited = await models
    .generateContent(googleRequest("error 429"))
    .catch((error: unknown) => error);
  expect(limited).toBeInstanceOf(ApiError);
  expect(limited).toMatchObject({ status: 429, message: expect.stringContaining(script.fault) });
});

async function startAws(): Promise<BedrockRuntimeClient> {
  const { host } = await startScripted(respond);
  return new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: "AKIATEST", secretAccessKey: "secret" },
    endpoint: `http://${host}`,
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
}

function awsRequest(feature: Feature) {
  const content: ContentBlock[] = [{ text: `[${feature}]` }];
  return { modelId: "anthropic.claude-1-v1:0", messages: [{ role: "user" as const, content }] };
}

it("AWS's own client reads the servers of Bedrock that these tests have", async () => {
  const client = await startAws();
  const { output } = await client.send(new ConverseCommand(awsRequest("parallel tools")));
  const uses = (output?.message?.content ?? []).map(({ toolUse }) => toolUse?.input);
  expect(uses).toEqual(calls.map(({ input }) => input));
  const { stream } = await client.send(new ConverseStreamCommand(awsRequest("text")));
  let text = "";
  for await (const event of stream ?? []) text += event.contentBlockDelta?.delta?.text ?? "";
  expect(text).toBe(script.text);
  const limited = client.send(new ConverseCommand(awsRequest("error 429")));
  await expect(limited).rejects.toBeInstanceOf(ThrottlingException);
  const failed = await client.send(new ConverseStreamCommand(awsRequest("error after 200")));
  const read = async (): Promise<void> => {
    for await (const _ of failed.stream ?? []);
  };
  await expect(read()).rejects.toThrow(script.fault);
});
