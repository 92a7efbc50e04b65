import { createHash } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
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
async function startFrontDoor(more: object, own: object = {}) {
  const upstream = await startScripted(respond);
  const params = { model: "claude-1", hostOverride: upstream.host, apiKey: "${KEY}" };
  const models = [{ name: "fast", provider: "anthropic", params, ...own }];
  const { url } = await startGateway({
    env: { KEY: "provider-key" },
    config: { llm: { port: await freePort(), models, ...more } },
  });
  const client = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  const ask = (apiKey: string) =>
    client(apiKey).models.generateContent({ model: "fast", contents: "[text]" });
  return { ask, client, url, sent: () => upstream.received };
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

it("schemas of tools are read in the spelling of Python's client, too", async () => {
  const { url, sent } = await startGoogle();
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const look = { name: "look", parameters_json_schema: schema };
  const body = {
    contents: [{ role: "user", parts: [{ text: "[text]" }] }],
    tools: [{ functionDeclarations: [look] }],
  };
  const type = { "content-type": "application/json" };
  const path = `${url}/v1beta/models/claude-1:generateContent`;
  expect((await send(path, "POST", type, JSON.stringify(body))).status).toBe(200);
  expect(sent().tools).toMatchObject([{ name: "look", input_schema: schema }]);
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

it("a repeated result is sent once, as Gemini CLI repeats those of a session that it resumes", async () => {
  const { client, sent } = await startGoogle();
  const call = { functionCall: { id: "call_a", name: "look", args: {} } };
  const result = {
    functionResponse: { id: "call_a", name: "look", response: { output: "18" } },
  };
  const again = [
    { role: "model", parts: [call] },
    { role: "user", parts: [result, result] },
  ];
  await client.models.generateContent({
    model: "claude-1",
    contents: [{ role: "user", parts: [{ text: "[text]" }] }, ...again, ...again],
  });
  const [, , first, , second] = sent().messages;
  for (const { content } of [first, second])
    expect(content).toMatchObject([{ type: "tool_result", content: [{ text: "18" }] }]);
});

it.each([
  [{ cachedContent: "cachedContents/a" }, "cachedContent"],
  [{ tools: [{ googleMaps: {} }] }, "tools[0]"],
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
  const { status } = await send(`${url}/v1beta/models/claude-1:embedContent`, "POST", {}, "{}");
  expect(status).toBe(404);
});

it("the clients of all vendors send their keys to one port, as in the guide", async () => {
  const expression = `
    "x-api-key" in request.headers ? request.headers["x-api-key"]
    : "x-goog-api-key" in request.headers ? request.headers["x-goog-api-key"]
    : request.headers["authorization"].stripPrefix("Bearer ")`;
  const apiKey = { location: { expression }, keys: [{ keyHash: KEY_HASH }] };
  const { ask, url, sent } = await startFrontDoor({ policies: { apiKey } });
  const messages = [{ role: "user" as const, content: "[text]" }];
  const asked = (key: string) => [
    ask(key),
    new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 }).messages.create({
      ...{ model: "fast", max_tokens: 100, messages },
    }),
    new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create({
      ...{ model: "fast", messages },
    }),
  ];
  const refused = await Promise.allSettled(asked("wrong"));
  expect(refused.map((each) => each.status === "rejected" && each.reason.status)).toEqual([
    ...[401, 401, 401],
  ]);
  await Promise.all(asked("client-key"));
  expect(sent()).toHaveLength(3);
  expect(JSON.stringify(sent().map(({ headers }) => headers))).not.toContain("client-key");
});

it("a method that the `llm` section does not serve is named", async () => {
  const { client } = await startFrontDoor({});
  const asked = client("any").models.embedContent({ model: "fast", contents: "Hi" });
  await expect(asked).rejects.toMatchObject({
    status: 404,
    message: expect.stringMatching(/the method \\"\w+\\" of models is not served/),
  });
});

it("the `llm` section does not serve the API next to defaults of other APIs", async () => {
  const { ask, sent } = await startFrontDoor({}, { defaults: { max_tokens: 9 } });
  // The path is below the one of the list of models.
  await expect(ask("any")).rejects.toMatchObject({ status: 404 });
  expect(sent()).toEqual([]);
});

it("guards of the `llm` section act on requests of the API", async () => {
  const guardrails = { request: [{ regex: { rules: [{ pattern: "text" }], action: "reject" } }] };
  const { ask, sent } = await startFrontDoor({ policies: { guardrails } });
  await expect(ask("any")).rejects.toMatchObject({ status: 403 });
  expect(sent()).toEqual([]);
});

it("guards see every text that a model reads, files included, and keep the rest", async () => {
  const regex = { rules: [{ pattern: "secret[0-9]{1,9}" }] };
  const gemini = { provider: { gemini: {} }, ai: { promptGuard: { request: [{ regex }] } } };
  const { client, sent } = await startGoogle(gemini);
  const file = (text: string) => ({
    inlineData: { mimeType: "text/plain", data: Buffer.from(text).toString("base64") },
  });
  const contents = (said: string) => [
    { role: "user", parts: [{ text: said }, file(said)] },
    { role: "model", parts: [{ functionCall: { name: "look", args: { [said]: [said] } } }] },
    { role: "user", parts: [{ functionResponse: { name: "look", response: { type: said } } }] },
  ];
  await client.models.generateContent({
    model: "gemini-3-pro",
    contents: contents("secret42"),
    config: { systemInstruction: "secret42", stopSequences: ["secret42"], logprobs: 3 },
  });
  expect(sent()).toMatchObject({
    contents: contents("<masked>"),
    systemInstruction: { parts: [{ text: "<masked>" }] },
    generationConfig: { stopSequences: ["<masked>"], logprobs: 3 },
  });
});

describe("the tokens of requests", () => {
  const counted = { ":countTokens": "contentTokenCount", ...routes };
  const counting = async (provider: object) => {
    const upstream = await startScripted((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ totalTokens: 7 }));
    });
    const { url } = await startAiGateway(upstream.host, counted, { provider });
    const count = async (body: object) => {
      const type = { "content-type": "application/json" };
      const path = "/v1beta/models/gemini-x:countTokens";
      const { body: told } = await send(`${url}${path}`, "POST", type, JSON.stringify(body));
      return JSON.parse(told).totalTokens;
    };
    return { url, count, received: upstream.received };
  };
  const contents = [{ role: "user", parts: [{ text: "Hello there, how are you?" }] }];
  const systemInstruction = { parts: [{ text: "Be brief." }] };

  it("are counted by Gemini", async () => {
    const { url, received } = await counting({ gemini: { model: "gemini-3-pro" } });
    const client = new GoogleGenAI({ apiKey: "client", httpOptions: { baseUrl: url } });
    const told = await client.models.countTokens({ model: "gemini-x", contents });
    expect(told.totalTokens).toBe(7);
    expect(received[0]?.url).toBe("/v1beta/models/gemini-3-pro:countTokens");
    expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({ contents });
  });

  it.each([
    { contents, systemInstruction },
    { generateContentRequest: { model: "models/gemini-x", contents, systemInstruction } },
  ])("are counted by Gemini for whole requests", async (body) => {
    const { count, received } = await counting({ gemini: { model: "gemini-3-pro" } });
    expect(await count(body)).toBe(7);
    expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({
      generateContentRequest: { model: "models/gemini-3-pro", contents, systemInstruction },
    });
  });

  it("are counted by Vertex AI, whose requests have no such member", async () => {
    const { count, received } = await counting({ vertex: { projectId: "p-1" } });
    const generateContentRequest = { model: "models/gemini-x", contents, systemInstruction };
    expect(await count({ generateContentRequest })).toBe(7);
    expect(received[0]?.url).toMatch(/\/publishers\/google\/models\/gemini-x:countTokens$/);
    expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({ contents, systemInstruction });
  });

  it("are estimated for other models", async () => {
    const { count, received } = await counting({ anthropic: {} });
    const [short, long] = [await count({ contents }), await count({ contents, systemInstruction })];
    expect(short).toBeGreaterThan(5);
    expect(long).toBeGreaterThan(short);
    expect(received).toEqual([]);
  });
});

it("the `llm` section serves the API without them", async () => {
  const { ask, sent } = await startFrontDoor({});
  const response = await ask("any");
  expect(response.text).toBe(script.text);
  expect(sent()).toHaveLength(1);
});
