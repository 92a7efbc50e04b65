import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ROUTES = {
  "/v1/chat/completions": "completions",
  "/v1/messages": "messages",
  "/v1/responses": "responses",
};
const MESSAGES = [{ role: "user", content: "Hello" }];

interface Failure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Returns the response of a gateway whose provider fails. */
async function failed(
  provider: "openAI" | "anthropic" | "gemini",
  path: keyof typeof ROUTES,
  { status, headers, body }: Failure,
  { backendAuth, ...policies }: Readonly<Record<string, object>> = {},
  stream = false,
): Promise<Response> {
  const server = await startScripted((response) => {
    response.writeHead(status, { ...JSON_TYPE, ...headers }).end(body);
  }, "anything");
  const ai = { provider: { [provider]: {} }, hostOverride: server.host };
  const all = { backendAuth, ai: { routes: ROUTES, ...policies } };
  const gateway = await startGateway({
    env: { KEY: "sk-own" },
    listeners: [{ routes: [{ backends: [{ ai, policies: all }] }] }],
  });
  const request =
    path === "/v1/responses"
      ? { model: "m", input: "Hello", stream }
      : { model: "m", max_tokens: 9, messages: MESSAGES, stream };
  return send(`${gateway.url}${path}`, "POST", JSON_TYPE, JSON.stringify(request));
}

const AZURE = `{ "error": {"message":"filtered", "type":null, "param":"prompt","code":"content_filter","status":400,
  "innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}} }`;

it.each(["/v1/chat/completions", "/v1/responses"] as const)(
  "an error of OpenAI reaches clients of %s byte for byte",
  async (path) => {
    const sent = {
      "x-request-id": "req_1",
      "x-ms-region": "West",
      "x-ratelimit-remaining-tokens": "7",
    };
    const { status, headers, body } = await failed("openAI", path, {
      status: 400,
      headers: sent,
      body: AZURE,
    });
    expect(status).toBe(400);
    expect(body).toBe(AZURE);
    expect(headers).toMatchObject({ ...sent, ...JSON_TYPE });
  },
);

it("an error of Anthropic reaches its clients byte for byte", async () => {
  const error = `{"type":"error", "error":{"type":"rate_limit_error","message":"slow","details":{"a":1}},"request_id":"req_2"}`;
  const sent = {
    "retry-after": "9",
    "anthropic-ratelimit-tokens-remaining": "0",
    "request-id": "req_2",
  };
  const { status, headers, body } = await failed("anthropic", "/v1/messages", {
    ...{ status: 429, headers: sent, body: error },
  });
  expect({ status, body }).toEqual({ status: 429, body: error });
  expect(headers).toMatchObject(sent);
});

it("a compressed error is forwarded as it was received", async () => {
  const body = gzipSync(AZURE);
  const answer = await failed("openAI", "/v1/chat/completions", {
    ...{ status: 400, headers: { "content-encoding": "gzip" }, body },
  });
  expect(answer.headers).toMatchObject({ "content-encoding": "gzip" });
  expect(answer.headers["content-length"]).toBe(String(body.length));
});

it("an error of the gateway's credentials is not forwarded", async () => {
  const error = { message: "Incorrect API key: sk-abc", type: "invalid_request_error" };
  const { status, body } = await failed(
    "openAI",
    "/v1/chat/completions",
    { status: 401, body: JSON.stringify({ error }) },
    { backendAuth: { key: "${KEY}" } },
  );
  expect(status).toBe(502);
  expect(body).not.toContain("sk-abc");
});

it("a guard of responses rewrites an error, and keeps its words", async () => {
  const error = {
    ...{ message: "mail a@b.example", type: "invalid_request_error", code: "bad_thing" },
    innererror: { text: "a@b.example" },
  };
  const guard = { response: [{ regex: { action: "mask", rules: [{ builtin: "email" }] } }] };
  const { body } = await failed(
    "openAI",
    "/v1/chat/completions",
    { status: 400, body: JSON.stringify({ error }) },
    { promptGuard: guard },
  );
  expect(body).not.toContain("a@b.example");
  expect(JSON.parse(body).error).toMatchObject({
    ...{ type: "invalid_request_error", code: "bad_thing" },
  });
});

it("an error of OpenAI has its code, parameter and request ID in Anthropic's format", async () => {
  const error = { message: "no", type: "invalid_request_error", param: "top_p", code: "bad_value" };
  const { status, headers, body } = await failed("openAI", "/v1/messages", {
    status: 400,
    headers: { "x-request-id": "req_3", "x-ratelimit-limit-requests": "5", "retry-after-ms": "70" },
    body: JSON.stringify({ error }),
  });
  expect(status).toBe(400);
  expect(JSON.parse(body)).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message: "no", code: "bad_value", param: "top_p" },
    request_id: "req_3",
  });
  expect(headers).toMatchObject({
    ...{ "request-id": "req_3", "x-request-id": "req_3" },
    ...{ "x-ratelimit-limit-requests": "5", "retry-after-ms": "70" },
  });
});

it("an error of Anthropic has its type as code, and its request ID, in OpenAI's format", async () => {
  const error = { type: "invalid_request_error", message: "max_tokens: too many" };
  const { headers, body } = await failed("anthropic", "/v1/chat/completions", {
    status: 400,
    headers: { "request-id": "req_4", "anthropic-ratelimit-requests-remaining": "3" },
    body: JSON.stringify({ type: "error", error, request_id: "req_4" }),
  });
  expect(JSON.parse(body).error).toEqual({
    ...{ message: "max_tokens: too many", type: "invalid_request_error", param: null },
    code: "invalid_request_error",
  });
  expect(headers).toMatchObject({
    ...{ "x-request-id": "req_4", "anthropic-ratelimit-requests-remaining": "3" },
  });
});

it("an error of Google has its status as code in OpenAI's format", async () => {
  const error = { code: 400, message: "bad", status: "INVALID_ARGUMENT" };
  const { body } = await failed("gemini", "/v1/messages", {
    ...{ status: 400, body: JSON.stringify([{ error }]) },
  });
  expect(JSON.parse(body).error).toMatchObject({ message: "bad", type: "invalid_request_error" });
});

it("an error without an object of its own is read by its message", async () => {
  const flat = { object: "error", message: "nope", type: "BadRequestError", code: 400 };
  const { body } = await failed("openAI", "/v1/messages", {
    ...{ status: 400, body: JSON.stringify(flat) },
  });
  expect(JSON.parse(body).error).toMatchObject({ message: "nope", code: "BadRequestError" });
});

it("an error in the middle of a stream reaches clients of the same format as it was sent", async () => {
  const start = `event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}\n\n`;
  const delta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n`;
  const error = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded","details":null},"request_id":"req_5"}\n\n`;
  const { body } = await failed(
    "anthropic",
    "/v1/messages",
    {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: start + delta + error,
    },
    {},
    true,
  );
  expect(body).toBe(start + delta + error);
});
