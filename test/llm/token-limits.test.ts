import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { chunk, complete, fail, startStream } from "./llm-upstream.ts";

let gateway: Gateway;

const limits = {
  hourly: [{ tokens: 40, unit: "Hours" }],
  bucket: [{ maxTokens: 30, tokensPerFill: 1, fillInterval: "1h", type: "tokens" }],
  keyed: [{ tokens: 20, unit: "Hours", key: 'request.headers["x-team"]' }],
  cut: [{ tokens: 5, unit: "Hours" }],
  embedded: [{ tokens: 6, unit: "Hours" }],
  expected: [{ tokens: 1000, unit: "Hours" }],
  failed: [{ tokens: 1000, unit: "Hours" }],
  hugeExpected: [{ tokens: 1000, unit: "Hours" }],
};

/** Of these about so many tokens as a request has are taken before it goes out. */
const expecting = ["expected", "failed", "hugeExpected"];

/** Completions that wait to be released. */
const waiting: (() => void)[] = [];

/** Every completion takes 25 tokens; one of the prompt "continue" never ends. */
beforeAll(async () => {
  const { host } = await startScripted((response, _, request) => {
    if (request.body.includes("wait")) waiting.push(() => complete(response, request));
    else if (request.body.includes("fail")) fail(response, 500);
    else if (request.url.endsWith("/embeddings")) {
      response.writeHead(200, { "content-type": "application/json" });
      const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
      const usage = { prompt_tokens: 7, total_tokens: 7 };
      response.end(JSON.stringify({ object: "list", model: "m", data, usage }));
    } else if (request.body.includes("continue")) {
      startStream(response);
      // Events that come together are as many as those that come apart.
      response.write(chunk({ content: "more " }).repeat(20));
    } else complete(response, request);
  });
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(limits).map(([name, localRateLimit]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: {
            localRateLimit,
            backendAuth: { key: "${KEY}" },
            ai: { routes: { "/embeddings": "embeddings", "*": "completions" } },
          },
          backends: [
            {
              ai: {
                provider: { openAI: {} },
                hostOverride: host,
                ...(expecting.includes(name) && { tokenize: true }),
              },
            },
          ],
        })),
      },
    ],
  });
});

function client(route: string, headers: Record<string, string> = {}): OpenAI {
  const baseURL = `${gateway.url}/${route}/v1`;
  return new OpenAI({ apiKey: "client-key", baseURL, maxRetries: 0, defaultHeaders: headers });
}

function ask(route: string, headers?: Record<string, string>, content = "Hello") {
  const messages = [{ role: "user" as const, content }];
  return client(route, headers).chat.completions.create({ model: "m", messages });
}

const limited = { status: 429, code: "rate_limit_exceeded" };

describe("limits of tokens", () => {
  it("count what the provider says, and hold for the requests after it", async () => {
    await ask("hourly");
    await ask("hourly");
    const error = await ask("hourly").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(limited);
    if (!(error instanceof OpenAI.APIError)) throw error;
    expect(error.headers?.get("x-ratelimit-limit")).toBe("40");
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
  });

  it("count streams as well, in the words of a bucket", async () => {
    const stream = client("bucket").chat.completions.stream({
      model: "m",
      messages: [{ role: "user", content: "Hello" }],
    });
    await stream.finalChatCompletion();
    await ask("bucket");
    await expect(ask("bucket")).rejects.toMatchObject(limited);
  });

  it("are of each key its own", async () => {
    await ask("keyed", { "x-team": "a" });
    await expect(ask("keyed", { "x-team": "a" })).rejects.toMatchObject(limited);
    await ask("keyed", { "x-team": "b" });
  });

  it("count what was delivered of a stream that the client left", async () => {
    const stream = await client("cut").chat.completions.create({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "continue" }],
    });
    for await (const { choices } of stream) if (choices.length > 0) break;
    await gateway.seen(/route=cut .*http\.status=/);
    await expect(ask("cut")).rejects.toMatchObject(limited);
  });

  it("count embeddings", async () => {
    const embed = () => client("embedded").embeddings.create({ model: "m", input: "Hello" });
    await embed();
    await expect(embed()).rejects.toMatchObject(limited);
  });

  it("take what a request is expected to use before it goes out, and then what it has used", async () => {
    const long = `wait ${"x".repeat(2400)}`;
    const first = ask("expected", {}, long);
    await eventually(() => (waiting.length === 1 ? true : null), "the first one");
    // About 600 of the 1,000 tokens are taken: there is no room for as many again.
    await expect(ask("expected", {}, long)).rejects.toMatchObject(limited);
    await ask("expected", {}, "short");
    waiting.pop()?.();
    await first;
    // Both took 25 in the end.
    const again = ask("expected", {}, long);
    await eventually(() => (waiting.length === 1 ? true : null), "the next one");
    waiting.pop()?.();
    await again;
  });

  it("give back what was expected of a request that failed", async () => {
    const long = `fail ${"x".repeat(3600)}`;
    for (let i = 0; i < 3; i++) {
      await expect(ask("failed", {}, long)).rejects.toMatchObject({ status: 500 });
    }
  });

  it("let through a request that is larger than all of them, once", async () => {
    const long = "x".repeat(8000);
    await ask("hugeExpected", {}, long);
  });
});
