import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { itUnless } from "../harness/skip.ts";
import {
  MODEL_ROWS_FILE,
  modelRowsText,
  modelSources,
  VENDOR_PRICES_FILE,
  vendorPricesText,
} from "./model-rows-text.ts";

const JSON_TYPE = { "content-type": "application/json" };
const MESSAGES = [{ role: "user", content: "Hello" }];

const sources = await modelSources();

itUnless(sources === undefined ? "npm ci installs the packages" : undefined)(
  "the catalogue is what the packages say",
  () => {
    const rows = readFileSync(MODEL_ROWS_FILE, "utf8");
    expect(rows).toBe(sources && modelRowsText(sources));
    expect(readFileSync(VENDOR_PRICES_FILE, "utf8")).toBe(vendorPricesText(rows));
  },
);

/** Returns the body that a provider gets for a request for a model of the `llm` section. */
async function sentFor(
  path: string,
  model: { readonly provider: string; readonly name: string; readonly params?: object },
  request: object,
  config: object = {},
): Promise<Record<string, unknown>> {
  const server = await startScripted((response) => {
    response.writeHead(529).end();
  });
  const params = { apiKey: "${KEY}", baseUrl: `http://${server.host}`, ...model.params };
  const gateway = await startGateway({
    env: { KEY: "k" },
    config: { config, llm: { port: await freePort(), models: [{ ...model, params }] } },
  });
  const body = JSON.stringify({ model: model.name, messages: MESSAGES, ...request });
  await send(`${gateway.url}${path}`, "POST", JSON_TYPE, body);
  return JSON.parse(server.received[0]?.body.toString() ?? "{}");
}

const CHAT = "/v1/chat/completions";

it("a model with adaptive reasoning gets an effort that it takes, and no sampling", async () => {
  const model = { name: "big", provider: "anthropic", params: { model: "claude-opus-4-7" } };
  const sent = await sentFor(CHAT, model, { reasoning_effort: "minimal", temperature: 0.5 });
  expect(sent).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
  expect(sent).not.toHaveProperty("temperature");
});

it("a limit above that of the model becomes that of the model", async () => {
  const model = { name: "claude-haiku-4-5", provider: "anthropic" };
  expect(await sentFor(CHAT, model, { max_tokens: 200_000 })).toMatchObject({ max_tokens: 64_000 });
});

it("a pattern names the models of the catalogue that match", async () => {
  const model = { name: "claude-*", provider: "anthropic" };
  const request = { model: "claude-opus-4-7", max_tokens: 500_000, reasoning_effort: "minimal" };
  expect(await sentFor(CHAT, model, { ...request, temperature: 1 })).toMatchObject({
    ...{ max_tokens: 128_000, thinking: { type: "adaptive" }, output_config: { effort: "low" } },
  });
});

it("a pattern names the models of `modelCatalog` that match", async () => {
  const inline = {
    providers: { anthropic: { models: { "claude-next": { traits: { maxOutput: 500 } } } } },
  };
  const model = { name: "claude-n*", provider: "anthropic" };
  const request = { model: "claude-next", max_tokens: 900 };
  const sent = await sentFor(CHAT, model, request, { modelCatalog: [{ inline }] });
  expect(sent).toMatchObject({ max_tokens: 500 });
});

it("a client without a limit gets more than a short completion", async () => {
  const model = { name: "claude-sonnet-4-5", provider: "anthropic" };
  expect(await sentFor(CHAT, model, {})).toMatchObject({ max_tokens: 32_000 });
});

it("a model that reasons at OpenAI gets no sampling parameters", async () => {
  const model = { name: "gpt-5", provider: "openAI" };
  const request = { max_tokens: 9, temperature: 0.2, top_p: 0.5 };
  const sent = await sentFor("/v1/messages", model, request);
  expect(sent).toMatchObject({ model: "gpt-5" });
  expect(sent).not.toHaveProperty("temperature");
  expect(sent).not.toHaveProperty("top_p");
});

it("a model that does not reason gets no reasoning", async () => {
  const model = { name: "gpt-4o", provider: "openAI" };
  const thinking = { type: "enabled", budget_tokens: 2048 };
  const sent = await sentFor("/v1/messages", model, { max_tokens: 4096, thinking, temperature: 1 });
  expect(JSON.stringify(sent)).not.toContain("reasoning");
  expect(sent).toMatchObject({ temperature: 1 });
});

it("`modelCatalog` says what a model takes", async () => {
  const traits = { maxOutput: 500, reasoning: "adaptive", efforts: ["high"], sampling: false };
  const inline = { providers: { anthropic: { models: { "claude-next": { traits } } } } };
  const model = { name: "claude-next", provider: "anthropic" };
  const request = { max_tokens: 900, reasoning_effort: "low", temperature: 1 };
  const sent = await sentFor(CHAT, model, request, { modelCatalog: [{ inline }] });
  expect(sent).toMatchObject({
    ...{ max_tokens: 500, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
  });
  expect(sent).not.toHaveProperty("temperature");
});

it("`gwc explain model` prints a model by its name at any provider", async () => {
  const { stdout, code } = await gwc(["explain", "model", "us.anthropic.claude-opus-4-7-v1:0"]);
  expect(code).toBe(0);
  expect(stdout).toContain("2026-09-23");
  expect(stdout).toMatch(/reasoning\s+adaptive \(low, medium, high, xhigh, max\)/);
  expect(stdout).toMatch(/price: cacheRead\s+\$0\.5/);
});

it("`gwc explain model` lists models, and refuses unknown ones", async () => {
  expect((await gwc(["explain", "model"])).stdout).toContain("gpt-5-mini");
  expect(await gwc(["explain", "model", "nobody"])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('unknown model "nobody"') },
  });
});
