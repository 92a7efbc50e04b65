import Anthropic from "@anthropic-ai/sdk";
import {
  type Ask,
  callsOf,
  type Feature,
  hasResults,
  outputSchema,
  pictureUrl,
  pixel,
  type Question,
  type Reading,
  script,
  tool,
} from "./features.ts";

type Request = Anthropic.MessageCreateParamsNonStreaming;

/** Anthropic's client. */
export const askMessages: Ask = async (question) => {
  const { url, model, feature, fetch } = question;
  const client = new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0, fetch });
  const first: Request = {
    model,
    max_tokens: 4000,
    system: script.system,
    messages: [{ role: "user", content: contentOf(question) }],
    ...optionsOf(feature),
  };
  const { content } = await create(client, first, question);
  if (!hasResults(feature)) return [readingOf(content)];
  const results = content
    .filter((block) => block.type === "tool_use")
    .map(({ id }, index) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: script.results[index] ?? "",
    }));
  const next: Request = {
    ...first,
    messages: [
      ...first.messages,
      { role: "assistant", content },
      { role: "user", content: results },
    ],
  };
  return [readingOf(content), readingOf((await create(client, next, question)).content)];
};

function contentOf({ prompt, feature }: Question): string | Anthropic.ContentBlockParam[] {
  const text = { type: "text" as const, text: prompt };
  switch (feature) {
    case "image": {
      const source = { type: "base64", media_type: "image/png", data: pixel } as const;
      return [text, { type: "image", source }];
    }
    case "image by address":
      return [text, { type: "image", source: { type: "url", url: pictureUrl } }];
    default:
      return prompt;
  }
}

function optionsOf(feature: Feature): Partial<Request> {
  const { name, description, schema: input_schema } = tool;
  const format = { type: "json_schema" as const, schema: outputSchema };
  return {
    ...(callsOf(feature).length > 0 && { tools: [{ name, description, input_schema }] }),
    ...(feature === "json schema" && { output_config: { format } }),
    ...(feature === "reasoning" && { thinking: { type: "enabled", budget_tokens: 2048 } }),
  };
}

async function create(
  client: Anthropic,
  request: Request,
  { isStream }: Question,
): Promise<Anthropic.Message> {
  const message = isStream
    ? await client.messages.stream(request).finalMessage()
    : await client.messages.create(request);
  const hasCalls = message.content.some(({ type }) => type === "tool_use");
  if (message.stop_reason !== (hasCalls ? "tool_use" : "end_turn"))
    throw new Error(`it stopped with ${message.stop_reason}`);
  return message;
}

function readingOf(content: readonly Anthropic.ContentBlock[]): Reading {
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    reasoning: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name, input: block.input }] : [],
    ),
  };
}
