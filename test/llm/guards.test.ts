import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

const secret = "Call +1 (212) 555-0142 or mail ann@example.com today.";
const masked = "Call <PHONE_NUMBER> or mail <EMAIL_ADDRESS> today.";
const replies = [
  { prompt: "contact", response: { content: secret } },
  {
    prompt: "tool",
    response: { toolCalls: [{ name: "send", arguments: '{"to":"ann\\u0040example.com"}' }] },
  },
  { prompt: "", response: { content: "Hello there." } },
];

const contacts = { rules: [{ builtin: "phoneNumber" }, { builtin: "email" }] };
const mask = { regex: contacts };
const reject = {
  regex: { ...contacts, action: "reject" },
  response: { message: "No contacts, please.", statusCode: 451 },
};
const guards = {
  "mask-requests": { request: [mask] },
  "reject-requests": { request: [reject] },
  "mask-responses": { response: [mask] },
  "reject-responses": { response: [reject] },
};

/** Which paths carry what, by whom they are served. */
const providers = {
  openai: {
    provider: { openAI: {} },
    routes: {
      "/v1/messages": "messages",
      "/v1/responses": "responses",
      "/v1/embeddings": "embeddings",
      "*": "completions",
    },
  },
  anthropic: {
    provider: { anthropic: {} },
    routes: { "/v1/messages": "messages", "*": "completions" },
  },
};

let server: Awaited<ReturnType<typeof startProvider>>;
let gateway: Gateway;

/** Each kind of guard before each provider, under a path of its own. */
beforeAll(async () => {
  server = await startProvider(replies);
  const hostOverride = server.host;
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(providers).flatMap(([name, { provider, routes }]) =>
          Object.entries(guards).map(([kind, promptGuard]) => ({
            name: `${name}-${kind}`,
            matches: [{ path: { pathPrefix: `/${name}/${kind}` } }],
            policies: { backendAuth: { key: "${KEY}" }, ai: { routes, promptGuard } },
            backends: [{ ai: { provider, hostOverride } }],
          })),
        ),
      },
    ],
  });
});

/** What the provider got last. */
function received(): string {
  return server.received.at(-1)?.body.toString() ?? "";
}

/** One way to ask for a completion: the text that comes back, or that of the error. */
type Ask = (path: string, prompt: string) => Promise<string>;

function openai(path: string): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${gateway.url}${path}/v1`, maxRetries: 0 });
}

function anthropic(path: string): Anthropic {
  return new Anthropic({ apiKey: "client-key", baseURL: gateway.url + path, maxRetries: 0 });
}

const completions: Ask = async (path, content) => {
  const messages = [{ role: "user" as const, content }];
  const whole = await openai(path).chat.completions.create({ model: "m", messages });
  const [{ message } = {}] = whole.choices;
  const call = message?.tool_calls?.[0];
  return message?.content ?? (call?.type === "function" ? call.function.arguments : "");
};
const completionsStream: Ask = async (path, content) => {
  const messages = [{ role: "user" as const, content }];
  const stream = openai(path).chat.completions.stream({ model: "m", messages });
  const [{ message } = {}] = (await stream.finalChatCompletion()).choices;
  const call = message?.tool_calls?.[0];
  return message?.content ?? (call?.type === "function" ? call.function.arguments : "");
};
const responses: Ask = async (path, input) => {
  const { output } = await openai(path).responses.create({ model: "m", input });
  return textOf(output);
};
const responsesStream: Ask = async (path, input) => {
  const stream = openai(path).responses.stream({ model: "m", input });
  let deltas = "";
  for await (const event of stream) {
    if ("delta" in event && typeof event.delta === "string") deltas += event.delta;
  }
  const whole = textOf((await stream.finalResponse()).output);
  expect(deltas).toBe(whole);
  return whole;
};
const messages: Ask = async (path, content) => {
  const whole = await anthropic(path).messages.create({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content }],
  });
  return blockText(whole.content);
};
const messagesStream: Ask = async (path, content) => {
  const stream = anthropic(path).messages.stream({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content }],
  });
  return blockText((await stream.finalMessage()).content);
};

function textOf(output: readonly OpenAI.Responses.ResponseOutputItem[]): string {
  return output
    .map((item) => {
      if (item.type === "function_call") return item.arguments;
      if (item.type !== "message") return "";
      return item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
    })
    .join("");
}

function blockText(content: readonly Anthropic.ContentBlock[]): string {
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "tool_use" ? JSON.stringify(block.input) : "";
    })
    .join("");
}

const asks = {
  completions,
  completionsStream,
  responses,
  responsesStream,
  messages,
  messagesStream,
};
const pairs = [
  ...(Object.keys(asks) as (keyof typeof asks)[]).map((ask) => [ask, "openai"] as const),
  ...(["completions", "completionsStream", "messages", "messagesStream"] as const).map(
    (ask) => [ask, "anthropic"] as const,
  ),
];

describe.each(pairs)("%s with models of %s", (name, provider) => {
  const ask = asks[name];

  it("what a request guard finds does not reach the provider", async () => {
    expect(await ask(`/${provider}/mask-requests`, `Hello, ${secret}`)).toBe("Hello there.");
    expect(received()).toContain(masked);
    expect(received()).not.toContain("ann@example.com");
  });

  it("a rejected request is an error of the client's own format, and reaches no provider", async () => {
    expect(await ask(`/${provider}/reject-requests`, "Hello")).toBe("Hello there.");
    await expect(ask(`/${provider}/reject-requests`, secret)).rejects.toMatchObject({
      status: 451,
      message: expect.stringContaining("No contacts, please."),
    });
    expect(received()).not.toContain("ann@example.com");
  });

  it("what a response guard finds does not reach the client", async () => {
    const path = `/${provider}/mask-responses`;
    expect(await ask(path, "contact")).toBe(masked);
    expect(JSON.parse(await ask(path, "tool"))).toEqual({ to: "<EMAIL_ADDRESS>" });
    expect(await ask(path, "Hello")).toBe("Hello there.");
  });

  it("a rejected response is an error, and nothing of the match is seen before it", async () => {
    const asked = ask(`/${provider}/reject-responses`, "contact");
    const error = await asked.then(String, (thrown: Error) => thrown.message);
    expect(error).toContain("No contacts, please.");
    expect(error).not.toContain("212");
  });
});

it("logs and metrics say what guards did, and never what they found", async () => {
  const path = "/openai/mask-requests";
  await completions(path, `Hello, ${secret}`);
  await gateway.seen(/guard\.request\.matches=2/);
  expect(gateway.output).not.toContain("ann@example.com");
  await expect(completions("/openai/reject-requests", secret)).rejects.toThrow();
  await gateway.seen(/reason=PromptGuard/);
  const metrics = await (
    await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`)
  ).text();
  expect(metrics).toMatch(/gwc_guard_checks_total\{phase="request",action="mask"\} [1-9]/);
  expect(metrics).toMatch(/gwc_guard_checks_total\{phase="request",action="reject"\} [1-9]/);
});
