import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { startProvider } from "../harness/model-provider.ts";
import { Workspace } from "../harness/workspace.ts";
import { type Ask, asks } from "./ask.ts";

const secret = "Call +1 (212) 555-0142 or mail ann@example.com today.";
const masked = "Call <PHONE_NUMBER> or mail <EMAIL_ADDRESS> today.";
/** Arguments of a tool, in lists of lists. */
const deep = `${"[".repeat(10_000)}"ann\\u0040example.com"${"]".repeat(10_000)}`;
const deepMasked = deep.replace("ann\\u0040example.com", "<EMAIL_ADDRESS>");

const replies = [
  { prompt: "nested", response: { toolCalls: [{ name: "send", arguments: deep }] } },
  {
    prompt: "complain",
    response: { error: { message: secret, type: "invalid_request_error" }, status: 400 },
  },
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
    routes: { "/v1/embeddings": "embeddings", ...everyFormat },
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

/** Returns the last request of the provider. */
function received(): string {
  return server.received.at(-1)?.body.toString() ?? "";
}

const pairs = [
  ...(Object.keys(asks) as (keyof typeof asks)[]).map((ask) => [ask, "openai"] as const),
  ...(["completions", "completionsStream", "messages", "messagesStream"] as const).map(
    (ask) => [ask, "anthropic"] as const,
  ),
];

describe.each(pairs)("%s with models of %s", (name, provider) => {
  const ask: Ask = (path, prompt) => asks[name](gateway.url + path, prompt);

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

  it("a provider's message instead of a response is guarded like one", async () => {
    const complaint = (kind: string) =>
      ask(`/${provider}/${kind}`, "complain").then(String, (thrown: Error) => thrown.message);
    expect(await complaint("mask-requests")).toContain(secret);
    expect(await complaint("mask-responses")).toContain(masked);
    expect(await complaint("reject-responses")).toContain("No contacts, please.");
    expect(await complaint("reject-responses")).not.toContain("212");
  });

  it("a rejected response is an error, and nothing of the match is seen before it", async () => {
    const asked = ask(`/${provider}/reject-responses`, "contact");
    const error = await asked.then(String, (thrown: Error) => thrown.message);
    expect(error).toContain("No contacts, please.");
    expect(error).not.toContain("212");
  });
});

/** A request as text, under a path of its own. */
function post(path: string, body: string): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(gateway.url + path, { method: "POST", headers, body });
}

describe("texts where other servers than the provider's own would read them", () => {
  const messages = '"messages":[{"role":"user","content":"Hello"}]';

  it.each([
    ["a field that only some servers have", `"chat_template":"${secret}"`, `,${messages}`],
    [
      "a field of another case, as servers in Go take it",
      `"Messages":[{"content":"${secret}"}]`,
      "",
    ],
  ])("%s is guarded", async (_, field, others) => {
    const body = `{"model":"m",${field}${others}}`;
    const response = await post("/openai/reject-requests/v1/chat/completions", body);
    expect(response.status).toBe(451);
  });

  it("a duplicate key in a message is refused, as readers differ on which one counts", async () => {
    const before = server.received.length;
    const body = `{"model":"m","messages":[{"role":"user","content":"${secret}","content":"Hello"}]}`;
    const response = await post("/openai/mask-requests/v1/chat/completions", body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("repeats a key");
    expect(server.received.length).toBe(before);
  });

  it.each(["Model", "MODEL", "\\u004dodel", "Stream"])("a second %s is refused", async (key) => {
    const response = await post(
      "/openai/mask-requests/v1/chat/completions",
      `{"model":"m","${key}":"other",${messages}}`,
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("differs from") },
    });
  });
});

describe("arguments of tools in lists of 10,000 lists", () => {
  it("are guarded on their way to the provider", async () => {
    const call = { id: "c", type: "function", function: { name: "send", arguments: deep } };
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "done" },
    ];
    const path = "/openai/mask-requests/v1/chat/completions";
    const response = await post(path, JSON.stringify({ model: "m", messages }));
    expect(response.status).toBe(200);
    expect(JSON.parse(received()).messages[1].tool_calls[0].function.arguments).toBe(deepMasked);
  });

  it.each(["completions", "completionsStream"] as const)("are guarded in %s", async (name) => {
    const path = `${gateway.url}/openai/mask-responses`;
    expect(await asks[name](path, "nested")).toBe(deepMasked);
  });

  it.each(["messages", "messagesStream"] as const)(
    "pass no translation unguarded: %s",
    async (name) => {
      const path = `${gateway.url}/openai/mask-responses`;
      const said = await asks[name](path, "nested").catch((error: Error) => error.message);
      expect(said).not.toContain("example.com");
      expect(await asks[name](path, "Hello")).toBe("Hello there.");
    },
  );

  it("that are no string are too deep for a request", async () => {
    const messages = `[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"send","input":{"to":${deep}}}]}]`;
    const body = `{"model":"m","max_tokens":9,"messages":${messages}}`;
    const response = await post("/anthropic/mask-requests/v1/messages", body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("nested too deeply");
  });
});

it("logs and metrics say what guards did, and never what they found", async () => {
  const path = "/openai/mask-requests";
  await asks.completions(gateway.url + path, `Hello, ${secret}`);
  await gateway.seen(/guard\.request\.matches=2/);
  expect(gateway.output).not.toContain("ann@example.com");
  await expect(asks.completions(`${gateway.url}/openai/reject-requests`, secret)).rejects.toThrow();
  await gateway.seen(/reason=PromptGuard/);
  const metrics = await (
    await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`)
  ).text();
  expect(metrics).toMatch(
    /gwc_guard_checks_total\{phase="request",guard="1.regex",action="mask"\} [1-9]/,
  );
  expect(metrics).toMatch(
    /gwc_guard_checks_total\{phase="request",guard="1.regex",action="reject"\} [1-9]/,
  );
});

it("a pattern of 1 MB is refused at its place, and nobody waits for it to be read", async () => {
  const route = {
    policies: {
      ai: {
        promptGuard: { request: [{ regex: { rules: [{ pattern: "a{1000}".repeat(150_000) }] } }] },
      },
    },
    backends: [{ ai: { provider: { openAI: {} } } }],
  };
  const binds = [{ port: 8080, listeners: [{ routes: [route] }] }];
  const { folder } = new Workspace({ "gateway.yaml": JSON.stringify({ binds }) });
  const { code, stdout, stderr } = await gwc(["check", "gateway.yaml"], { cwd: folder });
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(
    /out-of-range\]: "pattern" may have at most 1024 characters\n --> gateway\.yaml:1:/,
  );
});
