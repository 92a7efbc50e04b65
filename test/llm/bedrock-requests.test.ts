import { expect, it } from "vitest";
import { type ConverseBody, converseResponse } from "../harness/bedrock.ts";
import { claude, hello, start, toolStream } from "./bedrock-gateway.ts";

it("a conversation with tools, images, documents and thoughts is converted for Bedrock", async () => {
  const { anthropic, body } = await start({
    guardrailIdentifier: "gr1",
    guardrailVersion: "DRAFT",
  });
  const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "cGRm" };
  const longId = `toolu_${"x".repeat(90)}`;
  await anthropic.messages.create(
    {
      model: claude,
      max_tokens: 5000,
      thinking: { type: "enabled", budget_tokens: 2000 },
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "weather", description: "", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "cG5n" } },
            { type: "document", title: "a/b: report.pdf", source: pdf },
            { type: "document", title: "a b report pdf", source: pdf },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "sig" },
            { type: "redacted_thinking", data: "c2VjcmV0" },
            { type: "tool_use", id: longId, name: "weather", input: { city: "Paris" } },
            { type: "tool_use", id: "t2", name: "weather", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: longId, content: "Sunny" },
            { type: "tool_result", tool_use_id: "t2", is_error: true },
          ],
        },
      ],
    },
    {
      headers: {
        "anthropic-beta": "context-1m-2025-08-07,fast-mode-2026-02-01",
        "x-bedrock-metadata": '{"team":"a"}',
      },
    },
  );
  const sent = body() as ConverseBody;
  const id = sent.messages?.[1]?.content?.[2]?.toolUse?.toolUseId ?? "";
  expect(id).toMatch(/^[a-zA-Z0-9_-]{64}$/);
  expect(sent).toEqual({
    messages: [
      {
        role: "user",
        content: [
          { image: { format: "png", source: { bytes: "cG5n" } } },
          { document: { format: "pdf", name: "a b report pdf", source: { bytes: "cGRm" } } },
          { document: { format: "pdf", name: "a b report pdf (2)", source: { bytes: "cGRm" } } },
          { text: "The document." },
        ],
      },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
          { reasoningContent: { redactedContent: "c2VjcmV0" } },
          { toolUse: { toolUseId: id, name: "weather", input: { city: "Paris" } } },
          { toolUse: { toolUseId: "t2", name: "weather", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: id, content: [{ text: "Sunny" }] } },
          { toolResult: { toolUseId: "t2", content: [{ text: "(nothing)" }], status: "error" } },
        ],
      },
    ],
    system: [{ text: "Be kind." }, { cachePoint: { type: "default" } }],
    inferenceConfig: { maxTokens: 5000 },
    toolConfig: {
      tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }],
      toolChoice: { auto: {} },
    },
    guardrailConfig: {
      guardrailIdentifier: "gr1",
      guardrailVersion: "DRAFT",
      trace: "enabled",
    },
    additionalModelRequestFields: {
      thinking: { type: "enabled", budget_tokens: 2000 },
      anthropic_beta: ["context-1m-2025-08-07"],
    },
    requestMetadata: { team: "a" },
  } satisfies ConverseBody);
});

it("parallel results are one turn", async () => {
  const { openai, body } = await start();
  const call = (id: string) => ({
    id,
    type: "function" as const,
    function: { name: "weather", arguments: "{}" },
  });
  await openai.chat.completions.create({
    model: claude,
    messages: [
      ...hello,
      { role: "assistant", tool_calls: [call("a"), call("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: "And?" },
    ],
  });
  const sent = body() as ConverseBody;
  expect(sent.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(sent.messages?.[2]?.content).toHaveLength(3);
  expect(sent.toolConfig?.tools).toHaveLength(1);
  expect(sent.toolConfig?.tools?.[0]?.toolSpec?.name).toBe("no_tool");
});

it("tools that must not be called are not sent", async () => {
  const { openai, body } = await start();
  const tools = [{ type: "function" as const, function: { name: "weather" } }];
  await openai.chat.completions.create({
    model: claude,
    messages: hello,
    tools,
    tool_choice: "none",
  });
  expect(body()).not.toHaveProperty("toolConfig");
  const serial = { messages: hello, tools, parallel_tool_calls: false };
  await openai.chat.completions.create({ ...serial, model: claude, tool_choice: "required" });
  expect(body()).toMatchObject({
    additionalModelRequestFields: { tool_choice: { type: "any", disable_parallel_tool_use: true } },
  });
});

it("of several calls of a model that can't be limited to one, the first is forwarded", async () => {
  const started = await start();
  const { openai } = started;
  const request = {
    model: "meta.llama3-3-70b-instruct-v1:0",
    messages: hello,
    tools: [{ type: "function" as const, function: { name: "weather" } }],
    parallel_tool_calls: false,
  };
  const calls = [{ id: "t1", function: { name: "weather", arguments: '{"city":"Paris"}' } }];
  started.reply = { body: toolStream };
  const streamed = await openai.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls).toMatchObject(calls);
  const use = (toolUseId: string, city: string) => ({
    toolUse: { toolUseId, name: "weather", input: { city } },
  });
  started.reply = {
    body: converseResponse([use("t1", "Paris"), use("t2", "Rome")], "tool_use"),
  };
  const whole = await openai.chat.completions.create(request);
  expect(whole.choices[0]?.message.tool_calls).toMatchObject(calls);
  expect(streamed.choices[0]?.message.tool_calls).toHaveLength(1);
  expect(whole.choices[0]?.message.tool_calls).toHaveLength(1);
});

it("structured output is requested by its schema", async () => {
  const { openai, body } = await start();
  const schema = { type: "object", properties: { a: { type: "string" } } };
  await openai.chat.completions.create({
    model: claude,
    messages: hello,
    response_format: { type: "json_schema", json_schema: { name: "out", schema, strict: true } },
  });
  expect(body()).toEqual({
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
    outputConfig: {
      textFormat: {
        type: "json_schema",
        structure: {
          jsonSchema: {
            name: "out",
            schema: JSON.stringify({ ...schema, additionalProperties: false }),
          },
        },
      },
    },
  } satisfies ConverseBody);
});

it("unsupported input is refused by its field", async () => {
  const { openai, received } = await start();
  const image = (url: string) =>
    openai.chat.completions.create({
      model: claude,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
  const param = "messages[0].content[0].image_url.url";
  await expect(image("https://a.test/x.png")).rejects.toMatchObject({ status: 400, param });
  await expect(image("data:image/bmp;base64,Qk0=")).rejects.toMatchObject({ status: 400, param });
  expect(received).toEqual([]);
});
