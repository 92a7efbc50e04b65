import Anthropic from "@anthropic-ai/sdk";
import type { ConverseStreamOutput } from "@aws-sdk/client-bedrock-runtime";
import OpenAI from "openai";
import { everyFormat } from "../harness/ai-gateway.ts";
import { converseResponse, converseStream, type Wire } from "../harness/bedrock.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

/** A model of Bedrock. */
export const claude = "anthropic.claude-sonnet-4-5-20250929-v1:0";

/** Keys of AWS. */
export const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };

/** The provider's reaction to the next request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** A gateway before a provider that says what a test wants. */
export interface Started extends Scripted {
  readonly gateway: Gateway;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  reply: Reply;
  /** The body of the last request. */
  readonly body: () => unknown;
}

/** A whole response. */
export const helloResponse = { body: converseResponse([{ text: "Hi there." }], "end_turn") };

/** Starts both. */
export async function start(
  provider: object = {},
  policies: object = {},
  backendAuth?: object,
): Promise<Started> {
  const state = { reply: helloResponse as Reply };
  const upstream = await startScripted((response, _, { url }) => {
    const { status = 200, headers = {}, body } = state.reply;
    const type = url.endsWith("-stream")
      ? "application/vnd.amazon.eventstream"
      : "application/json";
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  });
  const gateway = await startGateway({
    env: {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      KEY: "bedrock-key",
    },
    listeners: [
      {
        routes: [
          {
            policies: {
              ...(backendAuth && { backendAuth }),
              ai: { routes: everyFormat, ...policies },
            },
            backends: [
              {
                ai: {
                  name: "bedrock",
                  provider: { bedrock: { region: "eu-west-1", ...provider } },
                  hostOverride: upstream.host,
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const { url } = gateway;
  return Object.assign(state, upstream, {
    gateway,
    openai: new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0 }),
    body: (): unknown => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? ""),
  });
}

/** A question. */
export const hello = [{ role: "user" as const, content: "Hello" }];

/** The tokens that it reports. */
export const usage = { inputTokens: 3, outputTokens: 7, totalTokens: 10 };

/** A stream with a text and two calls of tools. */
export const toolStream = converseStream([
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Let me " } } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "see ✓" } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  {
    contentBlockStart: {
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: "t1", name: "weather" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":' } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '"Paris"}' } } } },
  { contentBlockStop: { contentBlockIndex: 1 } },
  {
    contentBlockStart: {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: "t2", name: "weather" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '{"city":"Rome"}' } } } },
  { contentBlockStop: { contentBlockIndex: 2 } },
  { messageStop: { stopReason: "tool_use" } },
  { metadata: { usage, metrics: { latencyMs: 1 } } },
] as Wire<ConverseStreamOutput>[]);
