import OpenAI from "openai";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

interface Started extends Scripted {
  readonly client: OpenAI;
}

/** A client of embeddings before Bedrock, which responds with a body and how many tokens it read. */
async function start(
  body: object,
  tokens: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const upstream = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json", ...tokens });
    response.end(JSON.stringify(body));
  });
  const gateway = await startGateway({
    env: { KEY: "bedrock-key" },
    listeners: [
      {
        routes: [
          {
            policies: { backendAuth: { key: "${KEY}" }, ai: { routes: { "*": "embeddings" } } },
            backends: [{ ai: { provider: { bedrock: {} }, hostOverride: upstream.host } }],
          },
        ],
      },
    ],
  });
  const baseURL = `${gateway.url}/v1`;
  return { ...upstream, client: new OpenAI({ apiKey: "c", baseURL, maxRetries: 0 }) };
}

const titan = "amazon.titan-embed-text-v2:0";

it("Titan on Bedrock embeds a string for OpenAI's client", async () => {
  const { client, received } = await start({ embedding: [0.5, -0.25], inputTextTokenCount: 3 });
  const found = await client.embeddings.create({ model: titan, input: "Hello", dimensions: 256 });
  // The client asks for base64 by itself.
  expect(found.data).toEqual([{ object: "embedding", index: 0, embedding: [0.5, -0.25] }]);
  expect(found.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  expect(received[0]?.url).toBe("/model/amazon.titan-embed-text-v2%3A0/invoke");
  expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({
    inputText: "Hello",
    dimensions: 256,
  });
});

it("Cohere on Bedrock embeds several strings, with its tokens in a header", async () => {
  const { client, received } = await start(
    { embeddings: { float: [[1], [0.5]] }, response_type: "embeddings_by_type" },
    { "x-amzn-bedrock-input-token-count": "7" },
  );
  const found = await client.embeddings.create({
    model: "us.cohere.embed-v4:0",
    input: ["one", "two"],
    encoding_format: "float",
  });
  expect(found.data.map(({ embedding }) => embedding)).toEqual([[1], [0.5]]);
  expect(found.usage.prompt_tokens).toBe(7);
  expect(JSON.parse(received[0]?.body.toString() ?? "")).toMatchObject({
    texts: ["one", "two"],
    input_type: "search_document",
  });
});

it("unsupported input for a model on Bedrock is refused by its field", async () => {
  const { client, received } = await start({});
  const several = client.embeddings.create({ model: titan, input: ["one", "two"] });
  await expect(several).rejects.toMatchObject({ status: 400, param: "input" });
  const tokens = client.embeddings.create({ model: titan, input: [1, 2] });
  await expect(tokens).rejects.toMatchObject({ status: 400, param: "input[0]" });
  expect(received).toEqual([]);
});
