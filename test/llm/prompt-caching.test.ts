import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { respond } from "./table/respond.ts";

const words = Array.from({ length: 10 }, () => "word").join(" ");
const routes = { "/v1/messages": "messages", "*": "completions" };
const caching = { promptCaching: { cacheTools: true, minTokens: 20 } };
const mark = { type: "ephemeral" };

/** A gateway in front of Anthropic that sets breakpoints, and what it sends. */
async function startCaching(ai: object = caching) {
  const upstream = await startScripted(respond);
  const options = { provider: { anthropic: {} }, ai };
  const { url } = await startAiGateway(upstream.host, routes, options);
  return {
    openai: new OpenAI({ apiKey: "c", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "c", baseURL: url, maxRetries: 0 }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString() ?? "{}"),
  };
}

it("breakpoints are placed after long parts of translated requests", async () => {
  const { openai, sent } = await startCaching();
  await openai.chat.completions.create({
    model: "claude-1",
    messages: [
      { role: "system", content: words },
      { role: "user", content: words },
      { role: "assistant", content: words },
      { role: "user", content: "And?" },
    ],
    tools: [{ type: "function", function: { name: "t", description: words } }],
  });
  const { tools, system, messages } = sent();
  // Tools alone are below the minimum, tools and system are not.
  expect(tools[0].cache_control).toBeUndefined();
  expect(system).toEqual([{ type: "text", text: words, cache_control: mark }]);
  expect(JSON.stringify(messages).match(/cache_control/g)).toHaveLength(1);
  expect(messages[1].content[0].cache_control).toEqual(mark);
});

it.each([
  "你好世界你好世界你好世界你好世界你好世界",
  "こんにちは、世界。こんにちは、世界。こんにちは",
])("words of scripts without spaces are counted by their characters: %s", async (text) => {
  const { anthropic, sent } = await startCaching();
  const messages = [{ role: "user" as const, content: "And?" }];
  await anthropic.messages.create({ model: "claude-1", max_tokens: 9, system: text, messages });
  expect(sent().system).toEqual([{ type: "text", text, cache_control: mark }]);
});

it("breakpoints are placed in Anthropic's own requests, which keep the rest", async () => {
  const { anthropic, sent } = await startCaching();
  const first = { role: "user", content: `${words} ${words}` } as const;
  const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" } as const;
  await anthropic.messages.create({
    ...{ model: "claude-1", max_tokens: 4000, system: words },
    messages: [
      first,
      { role: "assistant", content: [{ type: "text", text: words }, thinking] },
      { role: "user", content: "And?" },
    ],
  });
  expect(sent()).toEqual({
    ...{ model: "claude-1", max_tokens: 4000, system: words },
    messages: [
      first,
      {
        role: "assistant",
        content: [{ type: "text", text: words, cache_control: mark }, thinking],
      },
      { role: "user", content: "And?" },
    ],
  });
});

it.each([
  [1, 2],
  [9, 0],
])("the last %i messages before the last one are not cached", async (offset, at) => {
  const { openai, anthropic, sent } = await startCaching({
    promptCaching: { minTokens: 0, cacheMessageOffset: offset },
  });
  const messages = [0, 1, 2, 3, 4].map((index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: words,
  }));
  const marks = () =>
    sent().messages.map(({ content }: { content: unknown }) =>
      JSON.stringify(content).includes("cache_control"),
    );
  const expected = messages.map((_, index) => index === at);
  await openai.chat.completions.create({ model: "claude-1", messages });
  expect(marks()).toEqual(expected);
  await anthropic.messages.create({ model: "claude-1", max_tokens: 9, messages });
  expect(marks()).toEqual(expected);
});

it("breakpoints of the client are kept, and never exceed four", async () => {
  const { anthropic, sent } = await startCaching();
  const block = { type: "text", text: words, cache_control: { type: "ephemeral" } } as const;
  const request = {
    ...{ model: "claude-1", max_tokens: 4000 },
    system: [block, block, block],
    messages: [
      { role: "user" as const, content: words },
      { role: "assistant" as const, content: words },
      { role: "user" as const, content: "And?" },
    ],
  };
  await anthropic.messages.create(request);
  expect(JSON.stringify(sent()).match(/cache_control/g)).toHaveLength(4);
  await anthropic.messages.create({ ...request, cache_control: { type: "ephemeral" } });
  expect(sent()).toEqual({ ...request, cache_control: { type: "ephemeral" } });
});

/** Providers that share the requests of a route. */
async function startSeveral(affinity: string, models?: (hosts: readonly string[]) => object) {
  const providers = await Promise.all([1, 2, 3].map(() => startScripted(respond)));
  const hosts = providers.map(({ host }) => host);
  const cached = { promptCaching: { affinity } };
  const group = hosts.map((hostOverride, index) => ({
    ...{ name: `p${index}`, provider: { openAI: { model: "gpt-4o" } }, hostOverride },
  }));
  const gateway =
    models === undefined
      ? await startGateway({
          env: { KEY: "provider-key" },
          listeners: [
            {
              routes: [
                {
                  policies: { backendAuth: { key: "${KEY}" }, ai: cached },
                  backends: [{ ai: { groups: [{ providers: group }] } }],
                },
              ],
            },
          ],
        })
      : await startGateway({
          env: { KEY: "provider-key" },
          config: { llm: { port: await freePort(), ...models(hosts) } },
        });
  return { gateway, providers };
}

/** Asks for the next turn of a conversation. Returns the index of the provider that was called. */
async function turn(
  { gateway, providers }: { readonly gateway: Gateway; readonly providers: readonly Scripted[] },
  said: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const before = providers.map(({ received }) => received.length);
  const client = new OpenAI({ apiKey: "c", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const messages = said.map((content, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content,
  }));
  await client.chat.completions.create({ model: "mixed", messages }, { headers });
  return providers.findIndex(({ received }, index) => received.length > (before[index] ?? 0));
}

const questions = Array.from({ length: 12 }, (_, index) => `[text] question ${index}`);

it("turns of one conversation go to one provider by their prefix", async () => {
  const several = await startSeveral("prefix");
  const used = new Set<number>();
  for (const question of questions) {
    const first = await turn(several, [question]);
    used.add(first);
    expect(await turn(several, [question, "Yes.", "More?"])).toBe(first);
    expect(await turn(several, [question, "Yes.", "More?", "No.", "Why?"])).toBe(first);
  }
  expect(used.size).toBeGreaterThan(1);
});

it("requests of one session go to one provider, whatever they ask", async () => {
  const several = await startSeveral("session");
  const used = new Set<number>();
  for (const question of questions) {
    const session = { session_id: question };
    const first = await turn(several, [question], session);
    used.add(first);
    expect(await turn(several, ["[text] something else"], session)).toBe(first);
  }
  expect(used.size).toBeGreaterThan(1);
});

it("models of a weighted virtual model are chosen by affinity, too", async () => {
  const several = await startSeveral("prefix", (hosts) => ({
    models: hosts.map((hostOverride, index) => ({
      name: `m${index}`,
      provider: "openai",
      params: { model: "gpt-4o", hostOverride, apiKey: "${KEY}" },
      promptCaching: { affinity: "prefix" },
    })),
    virtualModels: [
      {
        name: "mixed",
        routing: { weighted: { targets: hosts.map((_, n) => ({ model: `m${n}`, weight: 1 })) } },
      },
    ],
  }));
  const used = new Set<number>();
  for (const question of questions) {
    const first = await turn(several, [question]);
    used.add(first);
    expect(await turn(several, [question, "Yes.", "More?"])).toBe(first);
  }
  expect(used.size).toBeGreaterThan(1);
});

it("the share of cached tokens is a metric", async () => {
  const usage = { input_tokens: 3, cache_read_input_tokens: 12, cache_creation_input_tokens: 5 };
  const upstream = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        ...{ id: "m", type: "message", role: "assistant", model: "claude-1", content: [] },
        ...{ stop_reason: "end_turn", usage: { ...usage, output_tokens: 1 } },
      }),
    );
  });
  const gateway = await startAiGateway(upstream.host, routes, { provider: { anthropic: {} } });
  const client = new Anthropic({ apiKey: "c", baseURL: gateway.url, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "[text]" }];
  await client.messages.create({ model: "claude-1", max_tokens: 9, messages });
  const { body: metrics } = await send(
    `http://127.0.0.1:${await gateway.statsPort()}/metrics`,
    "GET",
  );
  const counted = (cache: string) =>
    new RegExp(
      `^gen_ai_client_prompt_tokens_total\\{[^}]*cache="${cache}"[^}]*\\} (\\d+)`,
      "m",
    ).exec(metrics)?.[1];
  expect([counted("none"), counted("read"), counted("write")]).toEqual(["3", "12", "5"]);
});
