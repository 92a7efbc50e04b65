import path from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-5",
  choices: [
    { index: 0, message: { role: "assistant", content: "Hi there." }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

interface Started {
  readonly upstream: Scripted;
  readonly gateway: Gateway;
}

async function start(
  provider: object,
  backendAuth: object,
  env: Readonly<Record<string, string>> = {},
  respond: (request: Received) => { readonly status: number; readonly body: object } = () => ({
    status: 200,
    body: completion,
  }),
): Promise<Started> {
  const upstream = await startScripted((response, _, request) => {
    const { status, body } = respond(request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const routes = { "/v1/messages/count_tokens": "tokenCount", ...everyFormat };
  const azureOpenAI = { endpoint: "res.openai.azure.com", ...provider };
  const ai = { name: "azure", provider: { azureOpenAI }, hostOverride: upstream.host };
  const gateway = await startGateway({
    env: { KEY: "azure-key", ...env },
    listeners: [{ routes: [{ policies: { backendAuth, ai: { routes } }, backends: [{ ai }] }] }],
  });
  return { upstream, gateway };
}

function openai({ gateway }: Started): OpenAI {
  return new OpenAI({ apiKey: "client", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

const request = { model: "gpt-5", messages: [{ role: "user" as const, content: "Hello" }] };
const withKey = { key: "${KEY}" };

it.each([
  [{}, "/openai/v1/chat/completions", "/openai/v1/responses", "gpt-5"],
  [
    { apiVersion: "preview", deploymentName: "my gpt" },
    "/openai/v1/chat/completions?api-version=preview",
    "/openai/v1/responses?api-version=preview",
    "my gpt",
  ],
  [
    { apiVersion: "2024-10-21", deploymentName: "my gpt" },
    "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
    "/openai/responses?api-version=2024-10-21",
    "my gpt",
  ],
])("%o is asked where that version is", async (provider, chat, responses, model) => {
  const started = await start(provider, withKey);
  await openai(started).chat.completions.create(request);
  await openai(started)
    .responses.create({ model: "gpt-5", input: "Hello" })
    .catch(() => {});
  const { received } = started.upstream;
  expect(received.map(({ url }) => url)).toEqual([chat, responses]);
  for (const { headers, body } of received) {
    expect(headers["api-key"]).toBe("azure-key");
    expect(headers.authorization).toBeUndefined();
    expect(JSON.parse(body.toString("utf8"))).toMatchObject({ model });
  }
});

it("Anthropic's client reads Azure's content filter", async () => {
  const filtered = {
    error: {
      message: "The response was filtered.",
      type: null,
      param: "prompt",
      code: "content_filter",
      status: 400,
      innererror: { code: "ResponsibleAIPolicyViolation" },
    },
  };
  const started = await start({}, withKey, {}, ({ body }) =>
    body.includes("bad") ? { status: 400, body: filtered } : { status: 200, body: completion },
  );
  const client = new Anthropic({ apiKey: "c", baseURL: started.gateway.url, maxRetries: 0 });
  const ask = (content: string) =>
    client.messages.create({
      model: "gpt-5",
      max_tokens: 9,
      messages: [{ role: "user", content }],
    });
  expect(await ask("Hello")).toMatchObject({ content: [{ type: "text", text: "Hi there." }] });
  await expect(ask("bad")).rejects.toMatchObject({
    status: 400,
    error: { error: { type: "invalid_request_error", message: "The response was filtered." } },
  });
});

const message = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-opus-4-5" },
  content: [{ type: "text", text: "Hi there." }],
  ...{ stop_reason: "end_turn", stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 2 },
};

it.each([{}, { deploymentName: "claude-opus-4-5" }])(
  "Claude of Azure AI Foundry is asked by Anthropic's API, whatever the client's API: %o",
  async (fixed) => {
    const foundry = { endpoint: "res.services.ai.azure.com", ...fixed };
    const started = await start(foundry, withKey, {}, () => ({ status: 200, body: message }));
    const model = "claude-opus-4-5";
    const { choices } = await openai(started).chat.completions.create({ ...request, model });
    expect(choices[0]?.message.content).toBe("Hi there.");
    const client = new Anthropic({ apiKey: "c", baseURL: started.gateway.url, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hello" }];
    await client.messages.create({ model, max_tokens: 9, messages });
    const output = await openai(started).responses.create({ model, input: "Hello" });
    expect(output.output_text).toBe("Hi there.");
    expect(started.upstream.received).toHaveLength(3);
    for (const { url, headers } of started.upstream.received) {
      expect(url).toBe("/anthropic/v1/messages");
      expect(headers).toMatchObject({
        "api-key": "azure-key",
        "anthropic-version": "2023-06-01",
      });
    }
  },
);

it("other models of Azure AI Foundry are called by OpenAI's API", async () => {
  const foundry = { endpoint: "res.services.ai.azure.com" };
  const started = await start(foundry, withKey);
  await openai(started).chat.completions.create(request);
  expect(started.upstream.received[0]?.url).toBe("/openai/v1/chat/completions");
  const counting = await start(
    { ...foundry, deploymentName: "claude-opus-4-5" },
    withKey,
    {},
    () => ({
      status: 200,
      body: { input_tokens: 42 },
    }),
  );
  const client = new Anthropic({ apiKey: "c", baseURL: counting.gateway.url, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello" }];
  expect(await client.messages.countTokens({ model: "m", messages })).toEqual({ input_tokens: 42 });
  expect(counting.upstream.received[0]?.url).toBe("/anthropic/v1/messages/count_tokens");
});

/** Starts Entra, or a managed identity, which issues a token to every caller. */
function startIdentity(): Promise<Scripted> {
  return startScripted((response) =>
    response.end(JSON.stringify({ access_token: "entra-token", expires_in: "3600" })),
  );
}

async function expectToken(started: Started): Promise<void> {
  const client = openai(started);
  await Promise.all([1, 2, 3].map(() => client.chat.completions.create(request)));
  for (const { headers } of started.upstream.received) {
    expect(headers.authorization).toBe("Bearer entra-token");
    expect(headers["api-key"]).toBeUndefined();
  }
  expect(started.gateway.output).not.toContain("entra-token");
}

const scope = "https://cognitiveservices.azure.com/.default";

it("an application exchanges its secret for a token once", async () => {
  const entra = await startIdentity();
  const clientSecret = { tenant_id: "tenant", client_id: "app", client_secret: "${SECRET}" };
  const started = await start(
    {},
    { azure: { explicitConfig: { clientSecret } } },
    { AZURE_AUTHORITY_HOST: `http://${entra.host}`, SECRET: "s3cret" },
  );
  await expectToken(started);
  expect(entra.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "POST /tenant/oauth2/v2.0/token",
  ]);
  const form = new URLSearchParams(entra.received[0]?.body.toString("utf8"));
  expect(Object.fromEntries(form)).toEqual({
    grant_type: "client_credentials",
    client_id: "app",
    client_secret: "s3cret",
    scope,
  });
});

it("a workload sends the token of its file", async () => {
  const entra = await startIdentity();
  const file = path.join(temporaryFolder({ token: "federated\n" }), "token");
  const started = await start(
    {},
    { azure: { explicitConfig: { workloadIdentity: {} } } },
    {
      AZURE_AUTHORITY_HOST: `http://${entra.host}`,
      AZURE_TENANT_ID: "tenant",
      AZURE_CLIENT_ID: "app",
      AZURE_FEDERATED_TOKEN_FILE: file,
    },
  );
  await expectToken(started);
  const form = new URLSearchParams(entra.received[0]?.body.toString("utf8"));
  expect(form.get("client_assertion")).toBe("federated");
  expect(form.has("client_secret")).toBe(false);
});

it("a machine's metadata is called for the configured identity", async () => {
  const metadata = await startIdentity();
  const started = await start(
    {},
    {
      azure: { explicitConfig: { managedIdentity: { userAssignedIdentity: { clientId: "id" } } } },
    },
    { AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${metadata.host}` },
  );
  await expectToken(started);
  const [first] = metadata.received;
  expect(first?.headers.metadata).toBe("true");
  const { pathname, searchParams } = new URL(first?.url ?? "", "http://host");
  expect(pathname).toBe("/metadata/identity/oauth2/token");
  expect(Object.fromEntries(searchParams)).toEqual({
    "api-version": "2018-02-01",
    resource: "https://cognitiveservices.azure.com",
    client_id: "id",
  });
});

it("by default the environment selects the identity", async () => {
  const entra = await startIdentity();
  const started = await start(
    {},
    { azure: { implicit: {} } },
    {
      AZURE_AUTHORITY_HOST: `http://${entra.host}`,
      AZURE_TENANT_ID: "tenant",
      AZURE_CLIENT_ID: "app",
      AZURE_CLIENT_SECRET: "s3cret",
    },
  );
  await expectToken(started);
  expect(entra.received).toHaveLength(1);
});
