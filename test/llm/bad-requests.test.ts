import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";
import type { Scripted } from "../harness/scripted.ts";

let provider: Scripted;
let gateway: Gateway;

/** A request of each API, with the place of its messages. */
const apis = {
  completions: { path: "/v1/chat/completions", turns: "messages", more: {} },
  messages: { path: "/v1/messages", turns: "messages", more: { max_tokens: 9 } },
  responses: { path: "/v1/responses", turns: "input", more: {} },
} as const;
type Api = (typeof apis)[keyof typeof apis];

beforeAll(async () => {
  provider = await startProvider([{ prompt: "", response: { content: "Hi." } }]);
  gateway = await startGateway({
    listeners: [
      {
        routes: ["openAI", "anthropic", "gemini"].map((name) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: {
            ai: {
              routes: everyFormat,
            },
          },
          backends: [{ ai: { provider: { [name]: {} }, hostOverride: provider.host } }],
        })),
      },
    ],
  });
});

const hello = [{ role: "user", content: "Hello" }];

/** A valid request with something else in it. */
function request({ turns, more }: Api, changes: object = {}): string {
  return JSON.stringify({ model: "m", ...more, [turns]: hello, ...changes });
}

interface Bad {
  readonly body: (api: Api) => string | Uint8Array<ArrayBuffer>;
  readonly status: number;
  readonly says: RegExp;
}

const all: Readonly<Record<string, Bad>> = {
  "no JSON": { body: () => '{"model":', status: 400, says: /not valid JSON/ },
  "no object": { body: () => "[1]", status: 400, says: /must be a JSON object/ },
  nothing: { body: () => "", status: 400, says: /JSON/ },
  "bytes that are no UTF-8": {
    body: (api) => new Uint8Array(Buffer.from(request(api).replace("Hello", "\u00ff"), "latin1")),
    status: 400,
    says: /not UTF-8/,
  },
  "no model": { body: (api) => request(api, { model: undefined }), status: 400, says: /model/ },
  "a model that is no name": {
    body: (api) => request(api, { model: 4 }),
    status: 400,
    says: /must be a string/,
  },
  "a model twice": {
    body: (api) => request(api).replace("{", '{"model":"other",'),
    status: 400,
    says: /occurs twice/,
  },
  "lists in 10,000 lists": {
    body: (api) => request(api).replace("{", `{"x":${"[".repeat(10_000)}${"]".repeat(10_000)},`),
    status: 400,
    says: /nested too deeply/,
  },
  "a prompt of 34 MB": {
    body: (api) =>
      request(api, { [api.turns]: [{ role: "user", content: "x".repeat(34_000_000) }] }),
    status: 413,
    says: /larger than 33554432 bytes \(maxBufferSize\)/,
  },
};

/** Bad requests that only who reads all of them finds. */
const misshapen: Readonly<Record<string, (api: Api) => object>> = {
  "messages that are a number": ({ turns }) => ({ [turns]: 7 }),
  "messages of numbers": ({ turns }) => ({ [turns]: [1] }),
  "a message of an unknown role": ({ turns }) => ({ [turns]: [{ role: "x", content: "a" }] }),
  "content of another shape": ({ turns }) => ({ [turns]: [{ role: "user", content: 5 }] }),
  "tools that are no list": () => ({ tools: "all" }),
};

async function post(name: string, { path }: Api, body: string | Uint8Array<ArrayBuffer>) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${gateway.url}/${name}${path}`, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
}

/** An error as the client of an API reads it. */
function expectError(api: Api, text: string): void {
  const { type, error } = JSON.parse(text);
  expect(error).toMatchObject({ type: expect.any(String), message: expect.any(String) });
  if (api === apis.messages) expect(type).toBe("error");
}

describe.each(Object.entries(all))("%s", (_, { body, status, says }) => {
  it.each(Object.keys(apis) as (keyof typeof apis)[])(
    "is refused in the client's format: %s",
    async (name) => {
      const api = apis[name];
      const before = provider.received.length;
      for (const kind of ["openAI", "anthropic"]) {
        const response = await post(kind, api, body(api));
        expect(response.text).toMatch(says);
        expect(response.status).toBe(status);
        expectError(api, response.text);
      }
      expect(provider.received).toHaveLength(before);
    },
  );
});

describe.each(Object.entries(misshapen))("%s", (_, changes) => {
  it.each(Object.keys(apis) as (keyof typeof apis)[])(
    "is refused where it would be translated: %s",
    async (name) => {
      const api = apis[name];
      const kind = name === "messages" ? "openAI" : "anthropic";
      const before = provider.received.length;
      const response = await post(kind, api, request(api, changes(api)));
      expect(response).toMatchObject({ status: 400 });
      expectError(api, response.text);
      expect(provider.received).toHaveLength(before);
    },
  );
});

it("arguments of a tool that are not JSON are never sent changed", async () => {
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{no json" } };
  const messages = [
    ...hello,
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: "x" },
  ];
  const body = JSON.stringify({ model: "m", messages });
  const response = await post("anthropic", apis.completions, body);
  expect(response.status).toBe(400);
  expect(response.text).toContain("arguments");
});

it.each(["..", "../x", "a/../../b", "%2e%2e", "a/..;b", "a\nb", "\ud800"])(
  "a model that would make another path of the provider's is refused: %j",
  async (model) => {
    const before = provider.received.length;
    const response = await post("gemini", apis.messages, request(apis.messages, { model }));
    expect(response).toMatchObject({ status: 400, text: expect.stringContaining("model") });
    expectError(apis.messages, response.text);
    expect(provider.received).toHaveLength(before);
  },
);

const file = { type: "text", media_type: "text/plain", data: "a" };
const document = (changes: object) => ({
  messages: [{ role: "user", content: [{ type: "document", source: file, ...changes }] }],
});
const tool = { name: "f", input_schema: { type: "object" } };

/** Features that another format cannot express: the provider, the API, the change of the request, and the field. */
const unsayable = [
  ["anthropic", "completions", { stop: ["END", "\n"] }, "stop"],
  ["anthropic", "completions", { messages: [] }, "messages"],
  ["anthropic", "completions", { tool_choice: "required" }, "tool_choice"],
  ["anthropic", "responses", { tool_choice: { type: "function", name: "f" } }, "tool_choice"],
  ["openAI", "messages", { messages: [] }, "messages"],
  ["openAI", "messages", { inference_geo: "us" }, "inference_geo"],
  [
    "openAI",
    "messages",
    document({ citations: { enabled: true } }),
    "messages[0].content[0].citations",
  ],
  ["gemini", "messages", document({ context: "a draft" }), "messages[0].content[0].context"],
  [
    "gemini",
    "messages",
    { tools: [{ ...tool, allowed_callers: ["code_execution_20260120"] }] },
    "tools[0].allowed_callers",
  ],
] as const;

it.each(unsayable)(
  "%s is not asked for what it cannot be told: %s %j",
  async (kind, api, changes, field) => {
    const before = provider.received.length;
    const response = await post(kind, apis[api], request(apis[api], changes));
    expect(response).toMatchObject({
      status: 400,
      text: expect.stringContaining(`\\"${field}\\"`),
    });
    expectError(apis[api], response.text);
    expect(provider.received).toHaveLength(before);
  },
);
