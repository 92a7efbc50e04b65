import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The tokens of subscriptions and clouds, and the providers whose own they are. */
const tokens = {
  claude: [{ authorization: "Bearer sk-ant-oat01-abc" }, ["anthropic"]],
  chatgpt: [
    {
      authorization: `Bearer ${part({ alg: "RS256" })}.${part({ iss: "https://auth.openai.com" })}.c2ln`,
    },
    ["openai", "responses"],
  ],
  "chatgpt, by its account": [
    { authorization: "Bearer opaque-token", "chatgpt-account-id": "acct_1" },
    ["openai", "responses"],
  ],
  google: [{ authorization: "Bearer ya29.a0abc" }, ["gemini", "vertexai"]],
} as const;

const providers = {
  openai: { openai: { api: "completions" } },
  responses: { openai: { api: "responses" } },
  azure: { azureopenai: { host: "a.test" } },
  anthropic: { anthropic: {} },
  gemini: { gemini: {} },
  vertexai: { vertexai: { projectId: "p" } },
  bedrock: { bedrock: {} },
  custom: { custom: { formats: [{ type: "messages" }] } },
  groq: { groq: {} },
} as const;

type Provider = keyof typeof providers;

/** The requests of clients, by path. */
const requests = {
  "/v1/messages": { max_tokens: 9, messages: [{ role: "user", content: "Hello" }] },
  "/v1/responses": { input: "Hello" },
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hello" }] },
} as const;

type Path = keyof typeof requests;

/** Requests that the providers get for one of a client; with `others`, the first one fails and the next takes over. */
async function sentTo(
  names: readonly Provider[],
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
) {
  const servers = await Promise.all(
    names.map(() => startScripted((response) => void response.writeHead(529).end(), "anything")),
  );
  const groups = names.map((name, index) => ({
    providers: [{ name, provider: providers[name], hostOverride: servers[index]?.host }],
  }));
  const routes = {
    "/v1/messages": "messages",
    "/v1/responses": "responses",
    "/v1/chat/completions": "completions",
    "*": "passthrough",
  };
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { passthrough: {} },
              ai: { routes },
              retry: { attempts: names.length - 1, codes: [529] },
            },
            backends: [{ ai: { groups } }],
          },
        ],
      },
    ],
  });
  const [at = path] = path.split("?");
  const body = JSON.stringify({ model: "m", ...requests[at as Path] });
  await send(
    `${gateway.url}${path}`,
    "POST",
    { "content-type": "application/json", ...headers },
    body,
  );
  return servers.map(({ received }) => received);
}

const cases = Object.entries(tokens).flatMap(([kind, [headers, own]]) =>
  Object.keys(providers).map((name) => [kind, name as Provider, headers, own] as const),
);

describe.each(cases)("a token of %s with the provider %s", (_, name, headers, own) => {
  const token = headers.authorization.replace("Bearer ", "");

  it.each([...Object.keys(requests), "/v1/unknown"])(
    "reaches it as it came only if it is its own: %s",
    async (path) => {
      const [received = []] = await sentTo([name], path, headers);
      expect(received.length).toBeGreaterThan(0);
      for (const request of received) {
        const { authorization, ...others } = request.headers;
        const isOwn = own.some((each) => each === name);
        expect(authorization).toBe(isOwn ? headers.authorization : undefined);
        expect(JSON.stringify([request.url, others])).not.toContain(token);
      }
    },
  );
});

const TOKEN = "sk-ant-oat01-abc";

/** Shapes in which clients may send a token, by mistake or to get it past the gateway. */
const shapes: readonly Readonly<Record<string, string | string[]>>[] = [
  { "x-api-key": TOKEN },
  { "api-key": TOKEN },
  { "x-goog-api-key": TOKEN },
  { authorization: TOKEN },
  { authorization: `Bearer\t${TOKEN}` },
  { authorization: `Basic ${TOKEN}` },
  { authorization: `Bearer "${TOKEN}"` },
  { authorization: `Bearer sk-1, Bearer ${TOKEN}` },
  { authorization: ["Bearer sk-1", `Bearer ${TOKEN}`] },
  { authorization: "Bearer sk-1", "x-api-key": TOKEN },
  { "x-api-key": TOKEN, "chatgpt-account-id": "acct_1" },
];

it.each(shapes)("a token reaches only its vendor, however it is sent: %j", async (headers) => {
  const others = ["openai", "azure", "gemini", "bedrock", "custom", "groq"] as const;
  const sent = (await sentTo(others, "/v1/messages", headers)).flat();
  expect(sent).toHaveLength(others.length);
  for (const { url, headers: got } of sent) {
    expect(JSON.stringify([url, got])).not.toContain(TOKEN);
  }
});

it("the account of a subscription reaches only its vendor", async () => {
  const { "chatgpt, by its account": account } = tokens;
  const [own = [], other = []] = await sentTo(["responses", "groq"], "/v1/responses", account[0]);
  expect(own[0]?.headers).toHaveProperty("chatgpt-account-id");
  expect(other[0]?.headers).not.toHaveProperty("chatgpt-account-id");
});

it("a mirror gets the call without the token", async () => {
  const mirror = await startScripted((response) => void response.end(), "anything");
  const server = await startScripted((response) => void response.writeHead(529).end(), "anything");
  const policies = {
    ...{ backendAuth: { passthrough: {} }, ai: { routes: { "*": "messages" } } },
    requestMirror: { backend: { host: mirror.host }, percentage: 1 },
  };
  const ai = { provider: { anthropic: {} }, hostOverride: server.host };
  const gateway = await startGateway({
    listeners: [{ routes: [{ policies, backends: [{ ai }] }] }],
  });
  const body = JSON.stringify({ model: "m", ...requests["/v1/messages"] });
  const { authorization } = tokens.claude[0];
  for (const headers of [{ authorization }, { authorization: "Bearer sk-1" }]) {
    const typed = { "content-type": "application/json", ...headers };
    await send(`${gateway.url}/v1/messages`, "POST", typed, body);
  }
  await eventually(() => (mirror.received.length === 2 ? mirror.received : null), "two copies");
  const got = mirror.received.map(({ headers }) => headers.authorization);
  expect(got.toSorted()).toEqual(["Bearer sk-1", undefined]);
  expect(server.received[0]?.headers).toMatchObject({ authorization });
});

it("the next provider does not get a token that the first one refused", async () => {
  const { authorization } = tokens.claude[0];
  const [first = [], second = []] = await sentTo(["anthropic", "openai"], "/v1/messages", {
    authorization,
  });
  expect(first[0]?.headers).toMatchObject({ authorization });
  expect(second).toHaveLength(1);
  expect(JSON.stringify(second[0]?.headers)).not.toContain("sk-ant-oat");
});

it("another key is sent in the header of the provider", async () => {
  const [[request] = []] = await sentTo(["anthropic"], "/v1/messages", {
    authorization: "Bearer sk-1",
  });
  expect(request?.headers).toMatchObject({ "x-api-key": "sk-1" });
});

it("a token of Claude is not sent in the header of keys", async () => {
  const [[request] = []] = await sentTo(["anthropic"], "/v1/messages", tokens.claude[0]);
  expect(request?.headers).not.toHaveProperty("x-api-key");
});

it("the query of a client reaches a provider of the same format", async () => {
  const [[request] = []] = await sentTo(["anthropic"], "/v1/messages?beta=true", {
    "x-api-key": "sk-1",
  });
  expect(request?.url).toBe("/v1/messages?beta=true");
});

it("a query with a key stays at the gateway", async () => {
  const [[request] = []] = await sentTo(["anthropic"], "/v1/messages?key=abc", {
    "x-api-key": "sk-1",
  });
  expect(request?.url).toBe("/v1/messages");
});
