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

type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming;

/** OpenAI's client of the Responses API, which keeps nothing at the provider. */
export const askResponses: Ask = async (question) => {
  const { url, model, feature, fetch } = question;
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const content = contentOf(question);
  const request: Request = {
    model,
    max_output_tokens: 4000,
    store: false,
    instructions: script.system,
    ...optionsOf(feature),
  };
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content }];
  const { output } = await create(client, { ...request, input }, question);
  if (!hasResults(feature)) return [readingOf(output)];
  const results = output
    .filter((item) => item.type === "function_call")
    .map(({ call_id }, index) => ({
      type: "function_call_output" as const,
      call_id,
      output: script.results[index] ?? "",
    }));
  const history = sentBack<unknown>(output) as OpenAI.Responses.ResponseInput;
  const next = { ...request, input: [...input, ...history, ...results] };
  return [readingOf(output), readingOf((await create(client, next, question)).output)];
};

function contentOf({
  prompt,
  feature,
}: Question): string | OpenAI.Responses.ResponseInputMessageContentList {
  const image_url = imageUrl(feature);
  if (image_url === undefined) return prompt;
  return [
    { type: "input_text", text: prompt },
    { type: "input_image", detail: "auto", image_url },
  ];
}

function optionsOf(feature: Feature): Partial<Request> {
  const { name, description, schema: parameters } = tool;
  const tools = [{ type: "function" as const, name, description, parameters, strict: null }];
  const format = { type: "json_schema" as const, name: "weather", schema: outputSchema };
  return {
    ...(callsOf(feature).length > 0 && { tools }),
    ...(feature === "json schema" && { text: { format: { ...format, strict: true } } }),
    ...(feature === "reasoning" && {
      reasoning: { effort: "medium", summary: "auto" },
      include: ["reasoning.encrypted_content"],
    }),
  };
}

async function create(
  client: OpenAI,
  request: Request,
  { isStream }: Question,
): Promise<OpenAI.Responses.Response> {
  const response = isStream
    ? await client.responses.stream({ ...request, stream: true }).finalResponse()
    : await client.responses.create(request);
  if (response.status !== "completed") throw new Error(`its status is ${response.status}`);
  return response;
}

function readingOf(output: readonly OpenAI.Responses.ResponseOutputItem[]): Reading {
  return {
    text: output.map(textOf).join(""),
    reasoning: output
      .flatMap((item) => (item.type === "reasoning" ? item.summary : []))
      .map(({ text }) => text)
      .join(""),
    calls: output.flatMap((item) =>
      item.type === "function_call" ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
  };
}

function textOf(item: OpenAI.Responses.ResponseOutputItem): string {
  if (item.type !== "message") return "";
  return item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}
