import OpenAI from "openai";
import {
  type Ask,
  callsOf,
  type Feature,
  hasResults,
  imageUrl,
  outputSchema,
  type Question,
  type Reading,
  script,
  sentBack,
  tool,
} from "./features.ts";

type Request = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.ChatCompletionMessage & { readonly reasoning_content?: string };

/** OpenAI's client of chat completions. */
export const askCompletions: Ask = async (question) => {
  const { url, model, feature, fetch } = question;
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const system = { role: "system" as const, content: script.system };
  const first: Request = {
    model,
    max_completion_tokens: 4000,
    messages: [system, { role: "user", content: contentOf(question) }],
    ...optionsOf(feature),
  };
  const message = await complete(client, first, question);
  if (!hasResults(feature)) return [readingOf(message)];
  const results = (message.tool_calls ?? []).map(({ id }, index) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: script.results[index] ?? "",
  }));
  const messages = [...first.messages, sentBack(message), ...results];
  return [readingOf(message), readingOf(await complete(client, { ...first, messages }, question))];
};

function contentOf({ prompt, feature }: Question): string | OpenAI.ChatCompletionContentPart[] {
  const url = imageUrl(feature);
  if (url === undefined) return prompt;
  return [
    { type: "text", text: prompt },
    { type: "image_url", image_url: { url } },
  ];
}

function optionsOf(feature: Feature): Partial<Request> {
  const json_schema = { name: "weather", schema: outputSchema, strict: true };
  const { name, description, schema: parameters } = tool;
  const tools = [{ type: "function" as const, function: { name, description, parameters } }];
  return {
    ...(callsOf(feature).length > 0 && { tools }),
    ...(feature === "json schema" && { response_format: { type: "json_schema", json_schema } }),
    ...(feature === "reasoning" && { reasoning_effort: "medium" }),
  };
}

async function complete(
  client: OpenAI,
  request: Request,
  { isStream }: Question,
): Promise<Message> {
  const completion = isStream
    ? await client.chat.completions.stream({ ...request, stream: true }).finalChatCompletion()
    : await client.chat.completions.create(request);
  const [choice] = completion.choices;
  if (choice === undefined) throw new Error("there is no choice");
  const hasCalls = choice.message.tool_calls !== undefined;
  if (choice.finish_reason !== (hasCalls ? "tool_calls" : "stop"))
    throw new Error(`it finished with ${choice.finish_reason}`);
  return choice.message;
}

function readingOf({ content, tool_calls, reasoning_content }: Message): Reading {
  return {
    text: content ?? "",
    reasoning: reasoning_content ?? "",
    calls: (tool_calls ?? []).map((call) =>
      call.type === "function"
        ? { name: call.function.name, input: JSON.parse(call.function.arguments) }
        : { name: call.type, input: undefined },
    ),
  };
}
