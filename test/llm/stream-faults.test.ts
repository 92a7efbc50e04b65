import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { settled } from "../harness/settled.ts";
import { chunk, completion, startStream, streamed, usageChunk } from "./llm-upstream.ts";

type Respond = Parameters<typeof startScripted>[0];

interface Served {
  readonly gateway: Gateway;
  readonly provider: Scripted;
}

/** A gateway before one provider that does as told. */
async function startBefore(
  respond: Respond,
  kind: "openAI" | "anthropic" = "openAI",
  policies: object = { providerHeader: true },
): Promise<Served> {
  const provider = await startScripted(respond);
  const ai = { provider: { [kind]: {} }, hostOverride: provider.host };
  const gateway = await startGateway({
    listeners: [{ routes: [{ policies: { ai: policies }, backends: [{ ai }] }] }],
  });
  return { gateway, provider };
}

function ask({ url }: Gateway, stream: boolean): Promise<Response> {
  const body = { model: "m", stream, messages: [{ role: "user", content: "Hello" }] };
  const type = { "content-type": "application/json" };
  return send(`${url}/v1/chat/completions`, "POST", type, JSON.stringify(body));
}

/** Sends a request on a connection of its own, which is read as the test wants. */
function openStreamed({ port }: Gateway): RawClient {
  const client = new RawClient(port);
  const body = JSON.stringify({
    model: "m",
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  });
  client.send(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return client;
}

const error502 = { status: 502, headers: { "content-type": "application/json" } };

it.each(["openAI", "anthropic"] as const)(
  "what is no response of a model is a 502 in the client's format (%s)",
  async (kind) => {
    const faults: readonly ((response: Parameters<Respond>[0]) => void)[] = [
      (response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>");
      },
      (response) => {
        response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
      },
      (response) => {
        const headers = { "content-type": "text/event-stream", "content-encoding": "gzip, br" };
        response.writeHead(200, headers).end(gzipSync(streamed.join("")));
      },
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end();
      },
    ];
    const { gateway, provider } = await startBefore((response, count) => {
      faults[Math.floor(count / 2)]?.(response);
    }, kind);
    for (const fault of faults) {
      for (const stream of [false, true]) {
        const response = await ask(gateway, stream);
        expect(response, String(fault)).toMatchObject(error502);
        expect(JSON.parse(response.body)).toHaveProperty("error.type");
      }
    }
    expect(provider.received).toHaveLength(2 * faults.length);
  },
);

it.each(["openAI", "anthropic"] as const)("deep nesting passes no guard (%s)", async (kind) => {
  const deep = `${'{"a":['.repeat(10_000)}"x"${"]}".repeat(10_000)}`;
  const promptGuard = { response: [{ regex: { rules: [{ builtin: "ssn" }] } }] };
  const { gateway, provider } = await startBefore(
    (response, count) => {
      if (count % 2 === 0) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(completion.replace('"Hi."', deep));
        return;
      }
      startStream(response);
      response.write(streamed[1]);
      response.end(`${chunk({ content: "y", extra: "z" }).replace('"z"', deep)}data: [DONE]\n\n`);
    },
    kind,
    { promptGuard },
  );
  for (let round = 0; round < 2; round++) {
    expect(await ask(gateway, false)).toMatchObject(error502);
    expect((await ask(gateway, true)).body).not.toContain('{"a":[{"a"');
  }
  expect(provider.received).toHaveLength(4);
});

it("an encoded response reaches the client as it is, and is counted", async () => {
  const { gateway } = await startBefore((response) => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    response.writeHead(200, headers).end(gzipSync(completion));
  });
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const answered = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Hello" }],
  });
  expect(answered.choices[0]?.message.content).toBe("Hi.");
  await gateway.seen(/gen_ai\.usage\.input_tokens=20/);
});

it("an event of a megabyte passes, and one of seventeen ends the stream with an error", async () => {
  const { gateway } = await startBefore((response, count) => {
    startStream(response);
    response.write(streamed[1]);
    response.write(chunk({ content: "x".repeat((count === 0 ? 1 : 17) * 1024 * 1024) }));
    response.end(streamed.slice(3).join(""));
  });
  const whole = await ask(gateway, true);
  expect(whole.body.length).toBeGreaterThan(1024 * 1024);
  expect(whole.body).toMatch(/data: \[DONE\]\n\n$/);
  const { body } = await ask(gateway, true);
  expect(body.length).toBeLessThan(1024 * 1024);
  expect(body).toMatch(/data: {"error":[^\n]+\n\n$/);
});

it("usage next to choices is counted and forwarded", async () => {
  const { gateway } = await startBefore((response) => {
    startStream(response);
    const last = usageChunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
    response.end([...streamed.slice(0, 3), last, "data: [DONE]\n\n"].join(""));
  });
  const { body } = await ask(gateway, true);
  expect(body).toContain('"finish_reason":"stop"');
  await gateway.seen(/gen_ai\.usage\.output_tokens=5/);
});

it("the events of a stream leave when they come", async () => {
  const { gateway, provider } = await startBefore((response) => {
    startStream(response);
    response.write(streamed.slice(0, 2).join(""));
  });
  const client = openStreamed(gateway);
  // The provider says no more, and has not ended.
  await client.receives('"content":"Hi"');
  expect(provider.received).toHaveLength(1);
});

it("a client gets a sign of life while a provider says nothing", async () => {
  const begin: Respond = (response) => {
    startStream(response);
    response.write(streamed.slice(0, 2).join(""));
  };
  const { gateway } = await startBefore(begin, "openAI", { streamKeepAlive: "200ms" });
  const client = openStreamed(gateway);
  await client.receives(/"content":"Hi"[\s\S]*(?:: ping\n\n[\s\S]*){3}/);
});

it("a client that reads slowly holds the provider back", async () => {
  let written = 0;
  const { gateway } = await startBefore((response) => {
    startStream(response);
    const event = chunk({ content: "x".repeat(64 * 1024) });
    const more = (): void => {
      do written += event.length;
      while (!response.destroyed && response.write(event));
    };
    response.on("drain", more);
    more();
  });
  const client = openStreamed(gateway);
  await client.receives("xxx");
  client.socket.pause();
  await settled(() => written);
  // No more than the buffers of three sockets.
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

it("words between the pieces of calls cut no arguments short", async () => {
  const pieces = (index: number, text: string, more: object = {}) =>
    chunk({ tool_calls: [{ index, ...more, function: { ...more, arguments: text } }] });
  const { gateway } = await startBefore(
    (response) => {
      startStream(response);
      response.end(
        [
          pieces(0, '{"a"', { id: "call_0", type: "function", name: "first" }),
          pieces(1, '{"b"', { id: "call_1", type: "function", name: "second" }),
          chunk({ content: "One " }),
          pieces(1, ":2}"),
          pieces(0, ":1}"),
          chunk({ content: "moment." }),
          chunk({}, "tool_calls"),
          "data: [DONE]\n\n",
        ].join(""),
      );
    },
    "openAI",
    { routes: { "/v1/messages": "messages" } },
  );
  const client = new Anthropic({ apiKey: "k", baseURL: gateway.url, maxRetries: 0 });
  const { content } = await client.messages
    .stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] })
    .finalMessage();
  expect(content).toMatchObject([
    { type: "tool_use", name: "first", input: { a: 1 } },
    { type: "tool_use", name: "second", input: { b: 2 } },
    { type: "text", text: "One moment." },
  ]);
});
