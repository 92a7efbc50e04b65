import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
  type ToolUseBlock,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import {
  type Ask,
  callsOf,
  type Feature,
  hasResults,
  outputSchema,
  pixel,
  type Question,
  type Reading,
  script,
  storedPicture,
  tool,
} from "./features.ts";

/** AWS's client of Bedrock at a URL. */
export function bedrockClient(url: string): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: "AKIATEST", secretAccessKey: "secret" },
    endpoint: url,
    // Its own handler speaks HTTP/2 without TLS.
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
}

/** AWS's client. */
export const askConverse: Ask = async (question) => {
  const { url, model, feature } = question;
  const client = bedrockClient(url);
  const asked: Message = { role: "user", content: contentOf(question) };
  const first: ConverseCommandInput = {
    modelId: model,
    messages: [asked],
    system: [{ text: script.system }],
    inferenceConfig: { maxTokens: 4000 },
    ...optionsOf(feature),
  };
  const said = await create(client, first, question);
  if (!hasResults(feature)) return [readingOf(said)];
  const uses = said.flatMap(({ toolUse }) => toolUse ?? []);
  const results = uses.map(
    ({ toolUseId }, index): ContentBlock => ({
      toolResult: { toolUseId, content: [{ text: script.results[index] ?? "" }] },
    }),
  );
  const messages: Message[] = [
    asked,
    { role: "assistant", content: [...said] },
    { role: "user", content: results },
  ];
  return [readingOf(said), readingOf(await create(client, { ...first, messages }, question))];
};

function contentOf({ prompt, feature }: Question): ContentBlock[] {
  switch (feature) {
    case "image":
      return [
        { text: prompt },
        { image: { format: "png", source: { bytes: Buffer.from(pixel, "base64") } } },
      ];
    case "image by address":
      return [
        { text: prompt },
        { image: { format: "png", source: { s3Location: { uri: storedPicture } } } },
      ];
    default:
      return [{ text: prompt }];
  }
}

function optionsOf(feature: Feature): Partial<ConverseCommandInput> {
  const { name, description, schema } = tool;
  const toolSpec = { name, description, inputSchema: { json: schema } };
  const jsonSchema = { schema: JSON.stringify(outputSchema), name: "weather" };
  return {
    ...(callsOf(feature).length > 0 && { toolConfig: { tools: [{ toolSpec }] } }),
    ...(feature === "json schema" && {
      outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } },
    }),
    ...(feature === "reasoning" && {
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2048 } },
    }),
  };
}

async function create(
  client: BedrockRuntimeClient,
  input: ConverseCommandInput,
  { isStream }: Question,
): Promise<readonly ContentBlock[]> {
  if (!isStream) {
    const { output, stopReason, usage, metrics } = await client.send(new ConverseCommand(input));
    const content = output?.message?.content ?? [];
    checkStop(content, stopReason);
    if (usage === undefined || metrics === undefined) throw new Error("there are no counts");
    return content;
  }
  const { stream = [] } = await client.send(new ConverseStreamCommand(input));
  const gathered = new Gathered();
  for await (const event of stream) gathered.add(event);
  checkStop(gathered.blocks, gathered.stopReason);
  if (!gathered.isCounted) throw new Error("there are no counts");
  return gathered.blocks;
}

function checkStop(content: readonly ContentBlock[], stopReason: string | undefined): void {
  const hasCalls = content.some(({ toolUse }) => toolUse !== undefined);
  if (stopReason !== (hasCalls ? "tool_use" : "end_turn"))
    throw new Error(`it stopped with ${stopReason}`);
}

/** The blocks of a stream. */
class Gathered {
  readonly #blocks: ContentBlock[] = [];
  #input = "";
  #call: ToolUseBlock | undefined;
  stopReason: string | undefined;
  isCounted = false;

  get blocks(): readonly ContentBlock[] {
    return this.#blocks.filter((block) => block !== undefined);
  }

  add({
    contentBlockStart,
    contentBlockDelta,
    contentBlockStop,
    ...end
  }: ConverseStreamOutput): void {
    const { toolUse: started } = contentBlockStart?.start ?? {};
    if (started !== undefined) {
      const { toolUseId, name } = started;
      this.#call = { toolUseId, name, input: {} };
      this.#input = "";
    }
    const { contentBlockIndex: index = 0, delta } = contentBlockDelta ?? {};
    if (delta?.toolUse !== undefined) this.#input += delta.toolUse.input;
    else if (delta?.text !== undefined) {
      this.#blocks[index] = { text: (this.#blocks[index]?.text ?? "") + delta.text };
    } else if (delta?.reasoningContent !== undefined) {
      const { text = "", signature } = delta.reasoningContent;
      const before = this.#blocks[index]?.reasoningContent?.reasoningText;
      const reasoningText = {
        text: (before?.text ?? "") + text,
        signature: signature ?? before?.signature,
      };
      this.#blocks[index] = { reasoningContent: { reasoningText } };
    }
    if (contentBlockStop !== undefined && this.#call !== undefined) {
      const input = JSON.parse(this.#input || "{}");
      this.#blocks[contentBlockStop.contentBlockIndex ?? 0] = {
        toolUse: { ...this.#call, input },
      };
      this.#call = undefined;
    }
    this.stopReason = end.messageStop?.stopReason ?? this.stopReason;
    this.isCounted ||= end.metadata?.usage !== undefined;
  }
}

function readingOf(content: readonly ContentBlock[]): Reading {
  return {
    text: content.map(({ text = "" }) => text).join(""),
    reasoning: content
      .map(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? "")
      .join(""),
    calls: content.flatMap(({ toolUse }) =>
      toolUse === undefined ? [] : [{ name: toolUse.name ?? "", input: toolUse.input }],
    ),
  };
}
