import { createHash } from "node:crypto";
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  ValidationException,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { bedrockClient } from "./table/converse-client.ts";
import { script } from "./table/features.ts";
import { respond } from "./table/respond.ts";

const routes = { "/converse": "converse", "/converse-stream": "converse" };
const KEY_HASH = `sha256:${createHash("sha256").update("client-key").digest("hex")}`;

/** AWS's client of a gateway in front of a scripted provider. */
async function startAws(options: Parameters<typeof startAiGateway>[2]) {
  const upstream = await startScripted(respond);
  const { url } = await startAiGateway(upstream.host, routes, options);
  const sent = () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}");
  return { client: bedrockClient(url), sent, upstream };
}

function command(
  more: Partial<ConverseCommandInput> = {},
  content: ContentBlock[] = [{ text: "[text]" }],
): ConverseCommand {
  const messages = [{ role: "user" as const, content }];
  return new ConverseCommand({ modelId: "m", messages, ...more });
}

it("settings of a request become those of the provider", async () => {
  const { client, sent } = await startAws({ provider: { anthropic: {} } });
  await client.send(
    command(
      {
        system: [{ text: "Be brief." }, { cachePoint: { type: "default", ttl: "1h" } }],
        inferenceConfig: { maxTokens: 4000, stopSequences: ["END"] },
        additionalModelRequestFields: { top_k: 3 },
        toolConfig: {
          tools: [
            { toolSpec: { name: "look", inputSchema: { json: { type: "object" } } } },
            { cachePoint: { type: "default" } },
          ],
          toolChoice: { any: {} },
        },
      },
      [
        { text: "[text]" },
        { document: { format: "txt", name: "a", source: { text: "Notes." } } },
        { cachePoint: { type: "default" } },
      ],
    ),
  );
  expect(sent()).toMatchObject({
    ...{ model: "m", max_tokens: 4000, stop_sequences: ["END"], top_k: 3 },
    system: [{ text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    tools: [{ name: "look", cache_control: { type: "ephemeral" } }],
    tool_choice: { type: "any" },
    messages: [
      {
        content: [
          { type: "text" },
          { type: "document", source: { data: "Notes." }, cache_control: { type: "ephemeral" } },
        ],
      },
    ],
  });
});

it("everything passes to Bedrock but the signature of the client", async () => {
  const { client, sent, upstream } = await startAws({ provider: { bedrock: {} } });
  const guardrailConfig = { guardrailIdentifier: "gr", guardrailVersion: "1" };
  const more = { guardrailConfig, requestMetadata: { team: "red" } };
  await client.send(command({ modelId: "amazon.nova-pro-v1:0", ...more }));
  expect(sent()).toEqual({
    messages: [{ role: "user", content: [{ text: "[text]" }] }],
    ...more,
  });
  const { headers } = upstream.received[0] ?? {};
  expect(headers?.authorization).toBe("Bearer provider-key");
  expect(
    Object.keys(headers ?? {}).filter((name) => /^x-amz-(?!user-agent)|^amz-/.test(name)),
  ).toEqual([]);
});

it("streams are cached in their binary form", async () => {
  const ai = { cache: { ttl: "1m", key: "request.method" } };
  const { client, upstream } = await startAws({ provider: { anthropic: {} }, ai });
  const ask = async () => {
    const messages = [{ role: "user" as const, content: [{ text: "[text]" }] }];
    const asked = new ConverseStreamCommand({ modelId: "m", messages });
    const { stream = [] } = await client.send(asked);
    let text = "";
    for await (const event of stream) text += event.contentBlockDelta?.delta?.text ?? "";
    return text;
  };
  expect([await ask(), await ask()]).toEqual([script.text, script.text]);
  expect(upstream.received).toHaveLength(1);
});

it.each<[Partial<ConverseCommandInput>, ContentBlock[], string]>([
  [
    { guardrailConfig: { guardrailIdentifier: "gr", guardrailVersion: "1" } },
    [],
    "guardrailConfig",
  ],
  [{ toolConfig: { tools: [{ systemTool: { name: "web" } }] } }, [], "toolConfig.tools[0]"],
  [{ additionalModelRequestFields: { odd: 1 } }, [], "additionalModelRequestFields.odd"],
  [
    {},
    [{ video: { format: "mp4", source: { bytes: Buffer.from("a") } } }],
    "messages[0].content[1].video",
  ],
])("what the provider cannot do is refused with its field: %j", async (more, blocks, field) => {
  const { client, upstream } = await startAws({ provider: { openAI: {} } });
  const call = client.send(command(more, [{ text: "[text]" }, ...blocks]));
  await expect(call).rejects.toBeInstanceOf(ValidationException);
  await expect(call).rejects.toThrow(`"${field}"`);
  expect(upstream.received).toEqual([]);
});

it("fields that the provider does not have are left out with `unsupported: drop`", async () => {
  const { client, sent } = await startAws({
    provider: { openAI: {} },
    ai: { unsupported: "drop" },
  });
  await client.send(command({ additionalModelRequestFields: { odd: 1, top_k: 3 } }));
  expect(sent().messages).toEqual([{ role: "user", content: "[text]" }]);
});

it("a guardrail of the request is never left out", async () => {
  const { client } = await startAws({ provider: { openAI: {} }, ai: { unsupported: "drop" } });
  const guardrailConfig = { guardrailIdentifier: "gr", guardrailVersion: "1" };
  await expect(client.send(command({ guardrailConfig }))).rejects.toThrow('"guardrailConfig"');
});

it("guards see every text that a model reads, files included, and keep the rest", async () => {
  const regex = { rules: [{ pattern: "secret[0-9]{1,9}" }] };
  const { client, sent } = await startAws({
    provider: { bedrock: {} },
    ai: { promptGuard: { request: [{ regex }] } },
  });
  const said = "secret42";
  const content: ContentBlock[] = [
    { text: said },
    { document: { format: "txt", name: said, source: { bytes: Buffer.from(said) } } },
    { toolUse: { toolUseId: said, name: "look", input: { [said]: [said] } } },
    { toolResult: { toolUseId: said, content: [{ json: { [said]: 1 } }] } },
    { reasoningContent: { reasoningText: { text: said, signature: said } } },
  ];
  await client.send(
    command({ modelId: "amazon.nova-pro-v1:0", system: [{ text: said }] }, content),
  );
  const bytes = Buffer.from("<masked>").toString("base64");
  expect(sent()).toEqual({
    system: [{ text: "<masked>" }],
    messages: [
      {
        role: "user",
        content: [
          { text: "<masked>" },
          { document: { format: "txt", name: "masked", source: { bytes } } },
          { toolUse: { toolUseId: said, name: "look", input: { "<masked>": ["<masked>"] } } },
          { toolResult: { toolUseId: said, content: [{ json: { "<masked>": 1 } }] } },
          { reasoningContent: { reasoningText: { text: "<masked>", signature: said } } },
        ],
      },
    ],
  });
});

it("configured prompts are added in the form of the API", async () => {
  const prompts = { prepend: [{ role: "system", content: "First." }] };
  const { client, sent } = await startAws({ provider: { bedrock: {} }, ai: { prompts } });
  await client.send(command({ modelId: "amazon.nova-pro-v1:0", system: [{ text: "Second." }] }));
  expect(sent().system).toEqual([{ text: "First." }, { text: "Second." }]);
});

it("the `llm` section serves the API to clients with a bearer token", async () => {
  const upstream = await startScripted(respond);
  const params = { model: "claude-1", hostOverride: upstream.host, apiKey: "${KEY}" };
  const { url } = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [{ name: "fast", provider: "anthropic", params }],
        policies: { apiKey: { keys: [{ keyHash: KEY_HASH }] } },
      },
    },
  });
  const ask = async (token: string) => {
    const client = new BedrockRuntimeClient({
      ...{ region: "us-east-1", endpoint: url, maxAttempts: 1 },
      token: { token },
      authSchemePreference: ["httpBearerAuth"],
      requestHandler: new NodeHttpHandler(),
    });
    const messages = [{ role: "user" as const, content: [{ text: "[text]" }] }];
    const { stream = [] } = await client.send(
      new ConverseStreamCommand({ modelId: "fast", messages }),
    );
    let text = "";
    for await (const event of stream) text += event.contentBlockDelta?.delta?.text ?? "";
    return text;
  };
  await expect(ask("wrong")).rejects.toMatchObject({ $metadata: { httpStatusCode: 401 } });
  expect(await ask("client-key")).toBe(script.text);
});
