import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

const FIELDS = {
  asked: "string(request.body)",
  answered: "string(response.body)",
  said: "llm.completion",
};

/** Access lines of a gateway in front of one backend. */
async function linesOf(
  backend: object,
  send: (url: string) => Promise<unknown>,
  { fields = FIELDS, maxBufferSize = 4096 }: { fields?: object; maxBufferSize?: number } = {},
): Promise<readonly Record<string, unknown>[]> {
  const gateway = await startGateway({
    file: {
      config: { logging: { format: "json", fields: { add: fields } } },
      frontendPolicies: { http: { maxBufferSize } },
    },
    listeners: [{ routes: [{ backends: [backend] }] }],
  });
  await send(gateway.url);
  await gateway.stop();
  return gateway.output
    .split("\n")
    .filter((line) => line.includes('"scope":"request"'))
    .map((line) => JSON.parse(line));
}

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body,
});

async function echoing(): Promise<object> {
  const url = await startUpstream((request, response) => {
    const coding = request.headers["content-encoding"];
    if (coding !== undefined) response.setHeader("content-encoding", coding);
    request.pipe(response);
  });
  return { host: new URL(url).host };
}

it("a field shows the bodies of a request and its response", async () => {
  const [line] = await linesOf(await echoing(), async (url) =>
    (await fetch(url, post('{"a":1}'))).text(),
  );
  expect(line).toMatchObject({ asked: '{"a":1}', answered: '{"a":1}' });
  expect(line).not.toHaveProperty("said");
});

it("an encoded body is decoded", async () => {
  const [line] = await linesOf(await echoing(), async (url) =>
    (await fetch(url, post(gzipSync("plain words"), { "content-encoding": "gzip" }))).text(),
  );
  expect(line).toMatchObject({ asked: "plain words", answered: "plain words" });
});

it("a body beyond the buffer limit is forwarded whole, and the line shows its beginning", async () => {
  const long = "x".repeat(9000);
  let received = "";
  const [line] = await linesOf(await echoing(), async (url) => {
    received = await (await fetch(url, post(long))).text();
  });
  expect(received).toBe(long);
  expect(line).toMatchObject({ asked: "x".repeat(4096), answered: "x".repeat(4096) });
});

it("a decoded body beyond the buffer limit is absent from the line", async () => {
  const bomb = gzipSync("x".repeat(1_000_000));
  const [line] = await linesOf(await echoing(), async (url) =>
    (await fetch(url, post(bomb, { "content-encoding": "gzip" }))).text(),
  );
  expect(line).not.toHaveProperty("asked");
});

it("a field shows a response of the gateway itself", async () => {
  const [line] = await linesOf(
    { host: "127.0.0.1:1" },
    async (url) => (await fetch(url, post("hello"))).text(),
    { fields: { answered: "string(response.body)" } },
  );
  expect(line).toMatchObject({ "http.status": 503 });
  expect(line).toHaveProperty("answered");
});

const CLIENTS = {
  completions: ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] }],
  messages: ["/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
  responses: ["/v1/responses", { input: "hi" }],
} as const;

/** A provider of Chat Completions that says two pieces. */
async function talking(): Promise<object> {
  const url = await startUpstream((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const chunk = (content: string, finish: string | null) =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }] })}\n\n`;
      if (text.includes('"stream":true')) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`${chunk("Good ", null)}${chunk("day", "stop")}data: [DONE]\n\n`);
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      const message = { role: "assistant", content: "Good day" };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      response.end(JSON.stringify({ id: "c", object: "chat.completion", model: "m", choices }));
    });
  });
  const routes = Object.fromEntries(Object.entries(CLIENTS).map(([type, [path]]) => [path, type]));
  const ai = { name: "m", provider: { openAI: {} }, hostOverride: new URL(url).host };
  return { ai, policies: { ai: { routes } } };
}

it.each(
  Object.keys(CLIENTS).flatMap((client) =>
    [false, true].map((stream) => [client, stream ? "streamed" : "whole", stream] as const),
  ),
)("a field shows the completion of a client of %s, %s", async (client, _, stream) => {
  const [path, body] = CLIENTS[client as keyof typeof CLIENTS];
  const [line] = await linesOf(await talking(), async (url) => {
    const request = { model: "gpt-4o", stream, ...body };
    const response = await fetch(`${url}${path}`, post(JSON.stringify(request)));
    expect(response.status, await response.text()).toBe(200);
  });
  expect(line).toMatchObject({ said: ["Good day"], asked: expect.stringContaining('"hi"') });
});
