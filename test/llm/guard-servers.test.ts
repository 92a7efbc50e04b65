import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { expectedSignature } from "../harness/aws-signature.ts";
import { compileFile } from "../harness/compile-file.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type GuardWebhook, startGuardWebhook } from "../harness/guard-webhook.ts";
import { startProvider } from "../harness/model-provider.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { asks } from "./ask.ts";
import { startGuardServices } from "./guard-servers.ts";
import { long, replies, rubbish, serverGuards } from "./server-guards.ts";

let webhook: GuardWebhook;
let services: Scripted;
let provider: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  [webhook, services, provider] = await Promise.all([
    startGuardWebhook(),
    startGuardServices(),
    startProvider(replies),
  ]);
  const identity = await startScripted((response) =>
    response.end(JSON.stringify({ access_token: "entra-token", expires_in: "3600" })),
  );
  const guards = serverGuards(webhook.url, services.host);
  gateway = await startGateway({
    env: {
      KEY: "provider-key",
      CLIENT_KEY: "key-of-blue",
      AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${identity.host}`,
    },
    file: { backends: [{ name: "hook", host: `${webhook.url.slice("http://".length)}` }] },
    listeners: [
      {
        routes: Object.entries(guards).map(([name, promptGuard]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ...(name === "made" && {
              apiKey: { keys: [{ key: "${CLIENT_KEY}", metadata: { name: "blue" } }] },
            }),
            ai: {
              routes: { "/v1/embeddings": "embeddings", ...everyFormat },
              promptGuard,
            },
          },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: provider.host } }],
        })),
      },
    ],
  });
});

function client(route: string): OpenAI {
  return new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/${route}/v1`, maxRetries: 0 });
}

function messagesSeen(kind: string) {
  return webhook
    .seen()
    .filter((call) => call.kind === kind)
    .flatMap(({ body }) => body.messages ?? body.choices?.map(({ message }) => message) ?? []);
}

describe("a webhook", () => {
  it("gets the texts of all roles, and of the client's headers those that match", async () => {
    await client("headers").chat.completions.create(
      {
        model: "m",
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: [{ type: "text", text: "Hello" }] },
        ],
      },
      { headers: { "x-tenant": "a", "x-trace": "12", "x-other": "b" } },
    );
    await client("headers").chat.completions.create(
      { model: "m", messages: [{ role: "user", content: "Again" }] },
      { headers: { "x-tenant": "b", "x-trace": "1a" } },
    );
    const [first, second] = webhook.seen().filter(({ kind }) => kind === "pass");
    expect(first).toMatchObject({
      phase: "request",
      headers: { "x-tenant": "a", "x-trace": "12" },
      body: {
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hello" },
        ],
      },
    });
    const names = Object.keys(second?.headers ?? {}).map((name) => name.toLowerCase());
    expect(names).not.toContain("x-tenant");
    expect(names).not.toContain("x-trace");
    expect(JSON.stringify(webhook.seen())).not.toContain("x-other");
  });

  it("gets headers that expressions make, at the path that they say", async () => {
    const headers = { "x-tenant": "blue", authorization: "Bearer key-of-blue" };
    const body = { model: "m", messages: [{ role: "user" as const, content: "secret1" }] };
    await client("made").chat.completions.create(body, { headers });
    const call = webhook.seen().at(-1);
    expect(call).toMatchObject({ kind: "mask", phase: "request" });
    const sent = new Headers(call?.headers);
    expect(["x-tenant", "x-key", "x-asked", "x-none"].map((name) => sent.get(name))).toEqual([
      "blue-1",
      "blue",
      "openai/m",
      null,
    ]);
    expect(JSON.parse(String(provider.received.at(-1)?.body)).messages).toEqual([
      { role: "user", content: "[hidden]" },
    ]);
  });

  it("may be a backend of the file, and is asked at its root", async () => {
    const { messages } = asks;
    expect(await messages(`${gateway.url}/named`, "My secret3.")).toBe("Hello there.");
    expect(provider.received.at(-1)?.body.toString()).toContain("My [hidden].");
  });

  it("sees what guards before it have left, and those behind it see what it has left", async () => {
    const create = (content: string) =>
      client("ordered").chat.completions.create({
        model: "m",
        messages: [{ role: "user", content }],
      });
    await create("secret1");
    expect(provider.received.at(-1)?.body.toString()).toContain("<masked>");
    expect(messagesSeen("mask").at(-1)).toEqual({ role: "user", content: "<masked>" });
    await expect(create("secret2")).rejects.toMatchObject({ status: 403 });

    await gateway.seen(
      /guard\.request="1\.regex:mask:1:[\d.]+ms 2\.webhook:pass:[\d.]+ms 3\.regex:pass:[\d.]+ms"/,
    );
    await gateway.seen(
      /guard\.request="1\.regex:pass:[\d.]+ms 2\.webhook:mask:1:[\d.]+ms 3\.regex:reject:1:[\d.]+ms"/,
    );
  });

  it("sees only arguments and results of tools if its scope says that", async () => {
    await client("tools").chat.completions.create({
      model: "m",
      messages: [
        { role: "user", content: "secret4 of mine" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call_1",
              type: "function",
              function: { name: "look", arguments: '{"for":"secret5"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "It is secret6." },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Finds secret8." } }],
    });
    const sent = provider.received.at(-1)?.body.toString() ?? "";
    expect(sent).toContain("secret4 of mine");
    expect(sent).toContain("Finds secret8.");
    expect(sent).toContain('{\\"for\\":\\"[hidden]\\"}');
    expect(sent).toContain("It is [hidden].");
  });

  it.each(rubbish)("that talks rubbish lets nothing pass (%s)", async (kind) => {
    const asked = asks.completions(`${gateway.url}/${kind}`, "Hello");
    await expect(asked).rejects.toMatchObject({ status: 503 });
    await gateway.seen(/guard\.request=1\.webhook:failed:/);
  });

  it("without words of its own leaves a rejection to the configuration, body and all", async () => {
    const response = await fetch(`${gateway.url}/own/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "secret9" }] }),
    });
    expect(response.status).toBe(422);
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(await response.text()).toBe("<p>No.</p>");
  });
});

describe("Azure AI Content Safety", () => {
  it("is asked with its key about what it takes at once, and no character is missed", async () => {
    const content = `${"é😀".repeat(7_000)} and the rivals`;
    await expect(asks.completions(`${gateway.url}/azure`, content)).rejects.toThrow();
    const asked = services.received.filter(({ url }) => url.includes("/text:analyze?")).slice(-3);
    expect(asked.map(({ url }) => url)).toEqual(
      asked.map(() => "/finds/contentsafety/text:analyze?api-version=2024-09-01"),
    );
    const bodies = asked.map(({ body }) => JSON.parse(body.toString()));
    const texts = bodies.map(({ text }) => text);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(10_000);
    expect(texts.every((text) => text.isWellFormed())).toBe(true);
    expect(texts.join("").length).toBeGreaterThan(content.length);
    expect(texts.at(-1)).toContain("the rivals");
    expect(bodies[0]).toMatchObject({ blocklistNames: ["rivals"], haltOnBlocklistHit: false });
    expect(asked[0]?.headers["ocp-apim-subscription-key"]).toBe("provider-key");
    expect(asked[0]?.headers).not.toHaveProperty("authorization");
  });

  it("is asked with a token where it has no key", async () => {
    expect(await asks.completions(`${gateway.url}/token`, "Hello")).toBe("Hello there.");
    const asked = services.received.filter(({ url }) => url.includes("/text:shieldPrompt?"));
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer entra-token"]);
  });

  it.each(["com", "us", "cn"])(
    "of azure.%s is asked with a token unless a key is given",
    async (cloud) => {
      const azureContentSafety = { endpoint: `shop.cognitiveservices.azure.${cloud}` };
      const policies = { ai: { promptGuard: { request: [{ azureContentSafety }] } } };
      const routes = [{ name: "chat", policies, backends: [{ ai: { provider: { openAI: {} } } }] }];
      const file = { binds: [{ port: 3000, listeners: [{ routes }] }] };
      const folder = temporaryFolder({ "gateway.yaml": JSON.stringify(file) });
      const { modules } = await compileFile(`${folder}/gateway.yaml`, { name: "guarded" });
      const route = modules.find(({ path }) => path === "routes/chat.ts");
      expect(route?.text).toContain(
        `ambientToken("https://cognitiveservices.azure.${cloud}/.default")`,
      );
    },
  );

  it("rejects from the severity on that the configuration says", async () => {
    expect(await asks.completions(`${gateway.url}/azure`, "secret3")).toBe("Hello there.");
  });
});

it("streams pass guards only where configured; whole responses always do", async () => {
  const base = `${gateway.url}/unwatched`;
  expect(await asks.completionsStream(base, "long")).toBe(long);
  await expect(asks.completions(base, "long")).rejects.toThrow();
});

it("patterns look only at system prompts if their scope says that", async () => {
  await client("system").responses.create({
    model: "m",
    instructions: "Mail ann@example.com.",
    input: "Mail bob@example.com.",
  });
  const sent = provider.received.at(-1)?.body.toString() ?? "";
  expect(sent).toContain("<EMAIL_ADDRESS>");
  expect(sent).toContain("bob@example.com");
});

it.each(["completionsStream", "messagesStream", "responsesStream"] as const)(
  "a webhook is asked window by window about a stream, and masks what lies anywhere (%s)",
  async (name) => {
    const before = messagesSeen("mask").length;
    expect(await asks[name](`${gateway.url}/windows`, "long")).toBe(
      long.replace("secret7", "[hidden]"),
    );
    const asked = messagesSeen("mask").slice(before);
    expect(asked.length).toBeGreaterThan(long.length / 64);
    // The window, and the piece that fills it.
    for (const { content } of asked) expect(content.length).toBeLessThan(128);
  },
);

it.each([
  ["chat/completions", { messages: [{ role: "user", content: "long" }] }, "data: [DONE]"],
  [
    "messages",
    { max_tokens: 9, messages: [{ role: "user", content: "long" }] },
    'data: {"type":"message_stop"}',
  ],
  ["responses", { input: "long" }, '"type":"response.failed"'],
])(
  "a stream of %s that a webhook rejects ends with an error and the end mark, in order",
  async (path, body, end) => {
    const response = await fetch(`${gateway.url}/ended/v1/${path}`, {
      method: "POST",
      body: JSON.stringify({ model: "m", stream: true, ...body }),
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain("All is well here.");
    expect(text).not.toContain("secret7");
    const events = text.trimEnd().split("\n\n");
    expect(events.at(-2)).toContain("The webhook says no.");
    expect(events.at(-1)).toContain(end);
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
      Number(number),
    );
    expect(numbers).toEqual(numbers.map((_, index) => index + (numbers[0] ?? 0)));
  },
);

it("embeddings of token ids are refused by name where requests are guarded", async () => {
  const ask = (input: unknown) =>
    fetch(`${gateway.url}/vectors/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify({ model: "m", input }),
    });
  expect((await ask([1, 2, 3])).status).toBe(400);
  expect(await (await ask([[1, 2], [3]])).json()).toMatchObject({
    error: { param: "input", message: expect.stringContaining("send strings") },
  });
  expect((await ask(["Mail ann@example.com"])).status).toBe(200);
  expect(provider.received.at(-1)?.body.toString()).toContain("Mail <EMAIL_ADDRESS>");
});

it("bytes of images are not looked at, and characters of two halves stay whole", async () => {
  const image = `data:image/png;base64,${Buffer.from("4111 1111 1111 1111").toString("base64")}4111111111111111`;
  await client("bytes").chat.completions.create({
    model: "m",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "😀 4111 1111 1111 1111 😀 \u0034111111111111111" },
          { type: "image_url", image_url: { url: image } },
        ],
      },
    ],
  });
  const sent = JSON.parse(provider.received.at(-1)?.body.toString() ?? "{}");
  expect(sent.messages[0].content).toEqual([
    { type: "text", text: "😀 <CREDIT_CARD> 😀 <CREDIT_CARD>" },
    { type: "image_url", image_url: { url: image } },
  ]);
  const broken = Buffer.concat([
    Buffer.from('{"model":"m","messages":[{"role":"user","content":"'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}]}'),
  ]);
  const refused = await fetch(`${gateway.url}/bytes/v1/chat/completions`, {
    method: "POST",
    body: broken,
  });
  expect(refused.status).toBe(400);
});

describe("services of other makers", () => {
  it("Bedrock's guardrails get requests as AWS signs them, and their masks hold", async () => {
    await asks.messages(`${gateway.url}/bedrock`, "My secret1 is safe.");
    expect(provider.received.at(-1)?.body.toString()).toContain("My {SECRET} is safe.");
    const request = services.received.find(({ url }) => url.endsWith("/apply"));
    if (request === undefined) throw new Error("nothing was received");
    expect(request.url).toBe(
      "/masks/guardrail/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aguardrail%2Fabc/version/2/apply",
    );
    const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "provider-key" };
    const scope = { region: "eu-west-1", service: "bedrock" };
    expect(request.headers.authorization).toBe(await expectedSignature(request, keys, scope));
    expect(JSON.parse(request.body.toString())).toEqual({
      source: "INPUT",
      content: [{ text: { text: "My secret1 is safe." } }],
    });
  });

  it("Model Armor gets a prompt under its template's name", async () => {
    await asks.completions(`${gateway.url}/armor`, "Hello");
    const request = services.received.find(({ url }) => url.includes("sanitize"));
    expect(request?.url).toBe(
      "/finds/v1/projects/shop-1/locations/europe-west4/templates/shield:sanitizeUserPrompt",
    );
    expect(JSON.parse(String(request?.body))).toEqual({ userPromptData: { text: "Hello" } });
    expect(request?.headers.authorization).toBe("Bearer provider-key");
  });
});
