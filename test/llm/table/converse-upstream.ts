import type { ContentBlock, ConverseStreamOutput } from "@aws-sdk/client-bedrock-runtime";
import { expect } from "vitest";
import { awsException } from "../../harness/aws-event-stream.ts";
import { converseResponse, converseStream, type Wire } from "../../harness/bedrock.ts";
import {
  callsOf,
  type Feature,
  outputSchema,
  pixel,
  type Reading,
  script,
  storedPicture,
  tool,
} from "./features.ts";
import { callId, type Upstream } from "./upstream.ts";

/** Bedrock's Converse, for a model that thinks as Claude does, or in no way that a client could ask for. */
export function converseUpstream(thinks: boolean): Upstream {
  return {
    streamType: "application/vnd.amazon.eventstream",
    whole: (said) => converseResponse(blocks(said), stopReason(said)),
    events: (said) =>
      [
        { messageStart: { role: "assistant" } },
        ...blocks(said).flatMap(blockEvents),
        { messageStop: { stopReason: stopReason(said) } },
        {
          metadata: {
            usage: { inputTokens: 9, outputTokens: 7, totalTokens: 16 },
            metrics: { latencyMs: 1 },
          },
        },
      ].map((event) => converseStream([event as Wire<ConverseStreamOutput>])),
    endings: 2,
    error: (status) => {
      const name = status === 429 ? "ThrottlingException" : "ValidationException";
      return {
        headers: { "x-amzn-errortype": name },
        body: JSON.stringify({ message: script.fault }),
      };
    },
    errorEvent: awsException("modelStreamErrorException", script.fault),
    asked: (feature) => asked(feature, thinks),
    replayed: (feature) => ({
      messages: [
        expect.anything(),
        {
          role: "assistant",
          content: blocks({
            text: "",
            reasoning: feature === "reasoning" && thinks ? script.thought : "",
            calls: callsOf(feature),
          }),
        },
        {
          role: "user",
          content: callsOf(feature).map((_, index) => ({
            toolResult: { toolUseId: callId(index), content: [{ text: script.results[index] }] },
          })),
        },
      ],
    }),
  };
}

function stopReason({ calls }: Reading): "tool_use" | "end_turn" {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function blocks({ text, reasoning, calls }: Reading): ContentBlock[] {
  const reasoningText = { text: reasoning, signature: script.signature };
  const all: object[] = [
    ...(reasoning === "" ? [] : [{ reasoningContent: { reasoningText } }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ id, name, input }, index) => ({
      toolUse: { toolUseId: id ?? callId(index), name, input },
    })),
  ];
  return all as ContentBlock[];
}

function blockEvents(block: ContentBlock, contentBlockIndex: number): object[] {
  const deltas = (values: readonly object[]): object[] =>
    values.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } }));
  const stop = { contentBlockStop: { contentBlockIndex } };
  if (block.text !== undefined) {
    const [first = "", ...others] = [...block.text];
    return [...deltas([{ text: first }, { text: others.join("") }]), stop];
  }
  const { reasoningText } = block.reasoningContent ?? {};
  if (reasoningText !== undefined) {
    const { text, signature } = reasoningText;
    return [...deltas([{ reasoningContent: { text } }, { reasoningContent: { signature } }]), stop];
  }
  const { toolUseId, name, input } = block.toolUse ?? {};
  return [
    { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name } } } },
    ...deltas([{ toolUse: { input: JSON.stringify(input) } }]),
    stop,
  ];
}

function asked(feature: Feature, thinks: boolean): object {
  const { name, description, schema } = tool;
  const toolSpec = { name, description, inputSchema: { json: schema } };
  const jsonSchema = expect.objectContaining({ schema: JSON.stringify(outputSchema) });
  // Only its own clients refer to pictures in AWS's storage.
  const source = feature === "image" ? { bytes: pixel } : { s3Location: { uri: storedPicture } };
  return {
    system: [{ text: script.system }],
    inferenceConfig: { maxTokens: 4000 },
    messages: [
      {
        role: "user",
        content: [
          { text: expect.stringContaining(feature) },
          ...(feature.startsWith("image") ? [{ image: { format: "png", source } }] : []),
        ],
      },
    ],
    ...(callsOf(feature).length > 0 && { toolConfig: { tools: [{ toolSpec }] } }),
    ...(feature === "json schema" && {
      outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } },
    }),
    ...(feature === "reasoning" &&
      thinks && {
        additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2048 } },
      }),
  };
}
