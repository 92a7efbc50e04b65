import Anthropic from "@anthropic-ai/sdk";
import {
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { ApiError, type GenerateContentResponse, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect } from "vitest";
import { bedrockClient } from "./table/converse-client.ts";

/** One way to ask for a completion: the text that comes back, or that of the error. `base`: the URL before `/v1`. */
export type Ask = (base: string, prompt: string) => Promise<string>;

function openai(base: string): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${base}/v1`, maxRetries: 0 });
}

function anthropic(base: string): Anthropic {
  return new Anthropic({ apiKey: "client-key", baseURL: base, maxRetries: 0 });
}

const completions: Ask = async (base, content) => {
  const messages = [{ role: "user" as const, content }];
  const whole = await openai(base).chat.completions.create({ model: "m", messages });
  const [{ message } = {}] = whole.choices;
  const call = message?.tool_calls?.[0];
  return message?.content ?? (call?.type === "function" ? call.function.arguments : "");
};
const completionsStream: Ask = async (base, content) => {
  const messages = [{ role: "user" as const, content }];
  const stream = openai(base).chat.completions.stream({ model: "m", messages });
  const [{ message } = {}] = (await stream.finalChatCompletion()).choices;
  const call = message?.tool_calls?.[0];
  return message?.content ?? (call?.type === "function" ? call.function.arguments : "");
};
const responses: Ask = async (base, input) => {
  const { output } = await openai(base).responses.create({ model: "m", input });
  return textOf(output);
};
const responsesStream: Ask = async (base, input) => {
  const stream = openai(base).responses.stream({ model: "m", input });
  let deltas = "";
  for await (const event of stream) {
    if ("delta" in event && typeof event.delta === "string") deltas += event.delta;
  }
  const whole = textOf((await stream.finalResponse()).output);
  expect(deltas).toBe(whole);
  return whole;
};
const messages: Ask = async (base, content) => {
  const whole = await anthropic(base).messages.create({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content }],
  });
  return blockText(whole.content);
};
const messagesStream: Ask = async (base, content) => {
  const stream = anthropic(base).messages.stream({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content }],
  });
  return blockText((await stream.finalMessage()).content);
};

const generateContent: Ask = async (base, contents) => {
  const asked = google(base).models.generateContent({ model: "m", contents });
  return partsText([await asked.catch(throwTold)]);
};
const generateContentStream: Ask = async (base, contents) => {
  const asked = google(base).models.generateContentStream({ model: "m", contents });
  const pieces: GenerateContentResponse[] = [];
  try {
    for await (const piece of await asked) pieces.push(piece);
  } catch (error) {
    throwTold(error);
  }
  return partsText(pieces);
};

const converse: Ask = async (base, text) => {
  const asked = bedrockClient(base).send(new ConverseCommand(converseRequest(text)));
  const { output } = await asked.catch(throwTold);
  return (output?.message?.content ?? [])
    .map((block) => block.text ?? JSON.stringify(block.toolUse?.input ?? {}))
    .join("");
};
const converseStream: Ask = async (base, text) => {
  const client = bedrockClient(base);
  const asked = client.send(new ConverseStreamCommand(converseRequest(text)));
  const { stream = [] } = await asked.catch(throwTold);
  let said = "";
  for await (const { contentBlockDelta } of stream) {
    const { text: piece, toolUse } = contentBlockDelta?.delta ?? {};
    said += piece ?? toolUse?.input ?? "";
  }
  return said;
};

function converseRequest(text: string) {
  return { modelId: "m", messages: [{ role: "user" as const, content: [{ text }] }] };
}

function google(base: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey: "client-key", httpOptions: { baseUrl: base } });
}

/** Gives errors a status as those of other clients have it. The messages of Google's errors are their bodies. */
function throwTold(error: unknown): never {
  if (error instanceof BedrockRuntimeServiceException) {
    throw Object.assign(error, { status: error.$metadata.httpStatusCode });
  }
  if (error instanceof ApiError)
    throw Object.assign(new Error(messageOf(error)), { status: error.status });
  throw error;
}

function messageOf({ message }: Error): string {
  return JSON.parse(message).error.message;
}

function partsText(pieces: readonly GenerateContentResponse[]): string {
  return pieces
    .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
    .map(({ text, functionCall }) => text ?? JSON.stringify(functionCall?.args ?? {}))
    .join("");
}

function textOf(output: readonly OpenAI.Responses.ResponseOutputItem[]): string {
  return output
    .map((item) => {
      if (item.type === "function_call") return item.arguments;
      if (item.type !== "message") return "";
      return item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
    })
    .join("");
}

function blockText(content: readonly Anthropic.ContentBlock[]): string {
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "tool_use" ? JSON.stringify(block.input) : "";
    })
    .join("");
}

/** Clients of each format, with whole responses and with streams. */
export const asks = {
  completions,
  completionsStream,
  responses,
  responsesStream,
  messages,
  messagesStream,
  generateContent,
  generateContentStream,
  converse,
  converseStream,
};
