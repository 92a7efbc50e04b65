import { createHash } from "node:crypto";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from "@google/genai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { script } from "./table/features.ts";
import { respond } from "./table/respond.ts";

const routes = {
  ":generateContent": "generateContent",
  ":streamGenerateContent": "generateContent",
};
const anthropic = { provider: { anthropic: {} } };
const KEY_HASH = `sha256:${createHash("sha256").update("client-key").digest("hex")}`;

/** Google's client of a gateway in front of a scripted provider. */
async function startGoogle(options: Parameters<typeof startAiGateway>[2] = anthropic) {
  const upstream = await startScripted(respond);
  const { url } = await startAiGateway(upstream.host, routes, options);
  const client = new GoogleGenAI({ apiKey: "client", httpOptions: { baseUrl: url } });
  const sent = () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}");
  return { client, url, sent, upstream };
}

/** The `llm` section of a file, with more of it. */
async function startFrontDoor(more: object) {
  const upstream = await startScripted(respond);
  const params = { model: "claude-1", hostOverride: upstream.host, apiKey: "${KEY}" };
  const models = [{ name: "fast", provider: "anthropic", params }];
  const { url } = await startGateway({
    env: { KEY: "provider-key" },
    config: { llm: { port: await freePort(), models, ...more } },
  });
  const ask = (apiKey: string) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }).models.generateContent({
      model: "fast",
      contents: "[text]",
    });
  return { ask, sent: () => upstream.received };
}

it("settings of a request become those of the provider", async () => {
  const { client, sent } = await startGoogle();
  await client.models.generateContent({
    model: "claude-1",
    contents: "[text]",
    config: {
      ...{ maxOutputTokens: 100, stopSequences: ["END"], topK: 3 },
      systemInstruction: "Be brief.",
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      tools: [
        {
          functionDeclarations: [
            {
              name: "look",
              parameters: {
                type: Type.OBJECT,
                properties: { a: { type: Type.STRING, nullable: true, maxLength: "9" } },
              },
            },
          ],
        },
      ],
    },
  });
  expect(sent()).toMatchObject({
    ...{ model: "claude-1", max_tokens: 100, stop_sequences: ["END"], top_k: 3 },
    ...{ system: "Be brief.", tool_choice: { type: "any" } },
    tools: [
      {
        input_schema: {
          type: "object",
          properties: { a: { type: ["string", "null"], maxLength: 9 } },
        },
      },
    ],
  });
});

it("results without IDs belong to the first open call of their name", async () => {
  const { client, sent } = await startGoogle();
  const call = (city: string) => ({ functionCall: { name: "look", args: { city } } });
  const result = (output: string) => ({ functionResponse: { name: "look", response: { output } } });
  await client.models.generateContent({
    model: "claude-1",
    contents: [
      { role: "user", parts: [{ text: "[text]" }] },
      { role: "model", parts: [call("Rome"), call("Zürich")] },
      { role: "user", parts: [result("25"), result("18")] },
    ],
  });
  const [, { content: calls }, { content: results }] = sent().messages;
  expect(results).toMatchObject([
    { tool_use_id: calls[0].id, content: [{ text: "25" }] },
    { tool_use_id: calls[1].id, content: [{ text: "18" }] },
  ]);
});

it.each([
  [{ cachedContent: "cachedContents/a" }, "cachedContent"],
  [{ tools: [{ codeExecution: {} }] }, "tools[0]"],
  [{ responseModalities: ["IMAGE"] }, "generationConfig.responseModalities"],
  [{ candidateCount: 2 }, "generationConfig.candidateCount"],
])("what the provider cannot do is refused with its field: %j", async (config, field) => {
  const { client, upstream } = await startGoogle();
  const call = client.models.generateContent({ model: "claude-1", contents: "[text]", config });
  await expect(call).rejects.toSatisfy((error) => {
    expect(error).toBeInstanceOf(ApiError);
    const { status, message } = error as ApiError;
    expect(status).toBe(400);
    const told = JSON.parse(message).error;
    expect(told.status).toBe("INVALID_ARGUMENT");
    expect(told.details[0].fieldViolations[0].field).toContain(field);
    return true;
  });
  expect(upstream.received).toEqual([]);
});

it("fields that the provider does not have are left out with `unsupported: drop`", async () => {
  const { url, sent } = await startGoogle({ ...anthropic, ai: { unsupported: "drop" } });
  const body = {
    contents: [{ parts: [{ text: "[text]" }] }],
    generationConfig: { candidateCount: 2, maxOutputTokens: 9 },
  };
  const { status, headers } = await send(
    `${url}/v1beta/models/claude-1:generateContent`,
    "POST",
    { "content-type": "application/json" },
    JSON.stringify(body),
  );
  expect(status).toBe(200);
  expect(headers["x-llm-dropped"]).toBe("generationConfig.candidateCount");
  expect(sent().max_tokens).toBe(9);
});

it("a stream that is not of server-sent events is refused", async () => {
  const { url } = await startGoogle();
  const path = "/v1beta/models/claude-1:streamGenerateContent";
  const body = JSON.stringify({ contents: [{ parts: [{ text: "[text]" }] }] });
  const type = { "content-type": "application/json" };
  const { status, body: told } = await send(`${url}${path}`, "POST", type, body);
  expect(status).toBe(400);
  expect(JSON.parse(told).error.message).toContain("alt=sse");
});

it("configured prompts are added in the form of the API", async () => {
  const prompts = {
    prepend: [{ role: "system", content: "First." }],
    append: [{ role: "assistant", content: "So" }],
  };
  const gemini = { provider: { gemini: {} }, ai: { prompts } };
  const { client, sent } = await startGoogle(gemini);
  const config = { systemInstruction: "Second." };
  await client.models.generateContent({ model: "gemini-3-pro", contents: "[text]", config });
  expect(sent()).toMatchObject({
    contents: [
      { role: "user", parts: [{ text: "[text]" }] },
      { role: "model", parts: [{ text: "So" }] },
    ],
    systemInstruction: { parts: [{ text: "First." }, { text: "Second." }] },
  });
});

it("the `llm` section serves the API, and reads keys where its clients send them", async () => {
  const location = { header: { name: "x-goog-api-key" } };
  const apiKey = { location, keys: [{ keyHash: KEY_HASH }] };
  const { ask } = await startFrontDoor({ policies: { apiKey } });
  await expect(ask("wrong")).rejects.toMatchObject({ status: 401 });
  expect((await ask("client-key")).text).toBe(script.text);
});

it("other methods of the API are not found", async () => {
  const { url } = await startGoogle();
  const { status } = await send(`${url}/v1beta/models/claude-1:countTokens`, "POST", {}, "{}");
  expect(status).toBe(404);
});

it("the `llm` section does not serve the API next to guards, which could not act", async () => {
  const guardrails = { request: [{ regex: { rules: [{ pattern: "secret" }], action: "reject" } }] };
  const { ask, sent } = await startFrontDoor({ policies: { guardrails } });
  // The path is below the one of the list of models.
  await expect(ask("any")).rejects.toMatchObject({ status: 405 });
  expect(sent()).toEqual([]);
});

it("the `llm` section serves the API without them", async () => {
  const { ask, sent } = await startFrontDoor({});
  const response = await ask("any");
  expect(response.text).toBe(script.text);
  expect(sent()).toHaveLength(1);
});
