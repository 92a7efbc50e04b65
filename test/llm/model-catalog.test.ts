import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";

/** A server whose answers use 1,000 prompt tokens, 200 of them cached, and 100 tokens of output. */
function startServer(details: object = {}) {
  return startScripted((response, _, { body }) => {
    const { model } = JSON.parse(body.toString());
    const message = { role: "assistant", content: "Hi.", refusal: null };
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_details: { cached_tokens: 200 },
      ...details,
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
    const whole = { id: "c1", object: "chat.completion", created: 1, model, choices, usage };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(whole));
  });
}

async function ask(url: string, model: string): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

it("calls cost what the catalog says, in logs, metrics and expressions", async () => {
  const server = await startServer();
  const base = { providers: { ollama: { models: { small: { rates: { input: 1, output: 1 } } } } } };
  const params = { baseUrl: `http://${server.host}/v1` };
  const rates = { input: "3", output: "15", cacheRead: "0.5" };
  const tiers = [{ contextOver: 999, rates: { output: "30" } }];
  const gateway = await startGateway({
    files: { "prices.json": JSON.stringify(base) },
    config: {
      config: {
        modelCatalog: [
          { file: "prices.json" },
          { inline: { providers: { ollama: { models: { large: { rates, tiers } } } } } },
          { inline: JSON.stringify({ providers: { vllm: { models: { m: { rates } } } } }) },
        ],
        logging: { fields: { add: { "cost.cached": "llm.cost.cacheRead" } } },
      },
      llm: {
        port: await freePort(),
        models: [
          { name: "*", provider: "ollama", params },
          { name: "m", provider: "vllm", params: { ...params, model: "m" } },
        ],
      },
    },
  });
  expect(await ask(gateway.url, "small")).toBe(200);
  await gateway.seen(/request.model=small .*gen_ai.cost=0.0011( |$)/);
  // 800 prompt tokens, 200 cached ones, and output above the tier.
  expect(await ask(gateway.url, "large")).toBe(200);
  await gateway.seen(/request.model=large .*gen_ai.cost=0.0055 .*cost.cached=0.0001( |$)/);
  expect(await ask(gateway.url, "m")).toBe(200);
  await gateway.seen(/request.model=m .*gen_ai.cost=0.004( |$)/);
  expect(await ask(gateway.url, "unknown")).toBe(200);
  await gateway.seen(/request.model=unknown (?!.*gen_ai.cost=)/);
  const stats = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  const metrics = await stats.text();
  expect(metrics).toMatch(/gwc_llm_cost_total\{[^}]*"large"[^}]*\} 0.0055/);
});

it("audio tokens cost what the catalog says", async () => {
  const server = await startServer({
    prompt_tokens_details: { cached_tokens: 100, audio_tokens: 600 },
    completion_tokens_details: { audio_tokens: 80 },
  });
  const rates = { input: 1, output: 2, inputAudio: 10, outputAudio: 20 };
  const providers = {
    ollama: { models: { speaking: { rates }, reading: { rates: { input: 1 } } } },
  };
  const add = {
    sound: "llm.cost.inputAudio + llm.cost.outputAudio",
    heard: "llm.inputAudioTokens",
  };
  const gateway = await startGateway({
    config: {
      config: { modelCatalog: [{ inline: { providers } }], logging: { fields: { add } } },
      llm: {
        port: await freePort(),
        models: [
          { name: "*", provider: "ollama", params: { baseUrl: `http://${server.host}/v1` } },
        ],
      },
    },
  });
  expect(await ask(gateway.url, "speaking")).toBe(200);
  // 300 and 100 cached tokens of text, 600 of audio; 20 of text and 80 of audio.
  await gateway.seen(/gen_ai\.cost=0\.00804 .*sound=0\.0076 heard=600( |$)/m);
  expect(await ask(gateway.url, "reading")).toBe(200);
  await gateway.seen(/request\.model=reading .*gen_ai\.cost=0\.001 /);
});

it("a budget counts the costs of the catalog", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1` };
  const models = { a: { rates: { input: 1000, output: 0 } } };
  const gateway = await startGateway({
    config: {
      config: { modelCatalog: [{ inline: { providers: { ollama: { models } } } }] },
      llm: {
        port: await freePort(),
        models: [{ name: "a", provider: "ollama", params }],
        policies: { localRateLimit: [{ budget: 1, unit: "Hours", cost: "llm.cost.total" }] },
      },
    },
  });
  expect(await ask(gateway.url, "a")).toBe(200);
  expect(await ask(gateway.url, "a")).toBe(429);
});

it("calls of known models cost what the catalogue says, without prices in the configuration", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1`, apiKey: "${KEY}" };
  const gateway = await startGateway({
    env: { KEY: "k" },
    config: {
      config: {
        modelCatalog: [
          { inline: { providers: { openai: { models: { "gpt-own": { rates: { input: 1 } } } } } } },
        ],
      },
      llm: {
        port: await freePort(),
        models: [
          { name: "*", provider: "openAI", params },
          { name: "named", provider: "openAI", params: { ...params, model: "gpt-5-mini" } },
        ],
      },
    },
  });
  // 800 tokens for 1.25, 200 cached ones for 0.125, and 100 of output for 10 dollars a million.
  for (const model of ["gpt-5", "gpt-5-2025-08-07"]) {
    expect(await ask(gateway.url, model)).toBe(200);
    await gateway.seen(new RegExp(`request.model=${model} .*gen_ai.cost=0.002025( |$)`, "m"));
  }
  expect(await ask(gateway.url, "gpt-own")).toBe(200);
  await gateway.seen(/request.model=gpt-own .*gen_ai.cost=0.001( |$)/m);
  expect(await ask(gateway.url, "named")).toBe(200);
  await gateway.seen(/request.model=named .*gen_ai.cost=0.000405( |$)/m);
});

it("calls without a price are counted", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1` };
  const gateway = await startGateway({
    config: {
      llm: { port: await freePort(), models: [{ name: "ours", provider: "ollama", params }] },
    },
  });
  expect(await ask(gateway.url, "ours")).toBe(200);
  await gateway.seen(/request.model=ours (?!.*gen_ai.cost=)/);
  const stats = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  expect(await stats.text()).toContain(
    'gwc_llm_unpriced_calls_total{gen_ai_provider_name="ollama",gen_ai_request_model="ours"} 1',
  );
});

it("a budget counts the prices of models by default", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1`, apiKey: "${KEY}" };
  const gateway = await startGateway({
    env: { KEY: "k" },
    config: {
      llm: {
        port: await freePort(),
        models: [{ name: "gpt-5", provider: "openAI", params }],
        policies: { localRateLimit: [{ budget: 0.004, unit: "Hours" }] },
      },
    },
  });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push(await ask(gateway.url, "gpt-5"));
  expect(statuses).toEqual([200, 200, 429]);
});
