import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { awsEvent } from "../harness/aws-event-stream.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

let refusing: Scripted;
let broken: Scripted;
let metadata: Scripted;
let gateway: Gateway;

const routes = { "/v1/messages": "messages", "*": "completions" };
const openAI = { openAI: { model: "gpt-5" } };
const anthropic = { anthropic: { model: "claude-opus-4-5" } };
const vertex = { vertex: { projectId: "p", model: "gemini-2.5-pro" } };
const bedrock = { bedrock: { region: "eu-west-1", model: "amazon.nova-pro-v1:0" } };

beforeAll(async () => {
  refusing = await startScripted((response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"type":"authentication_error","message":"the key sk-own is bad"}}');
  }, "anything");
  broken = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    response.write(awsEvent("messageStart", { role: "assistant" }));
    response.write(awsEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } }));
    const event = awsEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "evil" } });
    event.writeUInt8((event.at(-1) ?? 0) ^ 1, event.length - 1);
    response.end(event);
  });
  metadata = await startScripted((response) => response.writeHead(500).end("secret of a token"));
  const route = (name: string, provider: object, { host }: Scripted, backendAuth?: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { ai: { routes }, ...(backendAuth && { backendAuth }) },
    backends: [{ ai: { provider, hostOverride: host } }],
  });
  const own = { key: "${KEY}" };
  gateway = await startGateway({
    env: {
      KEY: "sk-own",
      AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${metadata.host}`,
      GCE_METADATA_HOST: metadata.host,
      GOOGLE_APPLICATION_CREDENTIALS: "",
    },
    listeners: [
      {
        routes: [
          route("own-openai", openAI, refusing, own),
          route("own-anthropic", anthropic, refusing, own),
          route("client-openai", openAI, refusing),
          route("client-anthropic", anthropic, refusing),
          route("vertex", vertex, refusing),
          route("bedrock", bedrock, refusing),
          route("broken", bedrock, broken, own),
        ],
      },
    ],
  });
});

const hello = [{ role: "user" as const, content: "Hello" }];

/** Asks by either format, for a whole completion or a stream. */
const asks = {
  completions: (path: string, stream: boolean) => {
    const baseURL = `${gateway.url}/${path}/v1`;
    const client = new OpenAI({ apiKey: "sk-client", baseURL, maxRetries: 0 });
    return client.chat.completions.create({ model: "m", messages: hello, stream });
  },
  messages: (path: string, stream: boolean) => {
    const baseURL = `${gateway.url}/${path}`;
    const client = new Anthropic({ apiKey: "sk-client", baseURL, maxRetries: 0 });
    return client.messages.create({ model: "m", max_tokens: 9, messages: hello, stream });
  },
} as const;
const formats = Object.keys(asks) as (keyof typeof asks)[];
const clients = formats.flatMap((format) => [[format, false] as const, [format, true] as const]);

it.each(clients)(
  "a key of the gateway's that is refused is no 401 for the client: %s",
  async (format, stream) => {
    for (const path of ["own-openai", "own-anthropic"]) {
      const error = await asks[format](path, stream).then(undefined, (thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 502 });
      expect(String(error)).toContain("the provider rejected the gateway's credentials");
      expect(String(error)).not.toContain("sk-own");
    }
  },
);

it.each(clients)("a key of the client's that is refused is: %s", async (format, stream) => {
  for (const path of ["client-openai", "client-anthropic"]) {
    await expect(asks[format](path, stream)).rejects.toMatchObject({ status: 401 });
  }
  expect(JSON.stringify(refusing.received.at(-1)?.headers)).toContain("sk-client");
});

it.each(clients)(
  "a server of credentials that is down is a 503, and the provider is not asked: %s",
  async (format, stream) => {
    const before = refusing.received.length;
    for (const path of ["vertex", "bedrock"]) {
      const error = await asks[format](path, stream).then(undefined, (thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 503 });
      expect(String(error)).toContain("the provider is not reachable");
    }
    await gateway.seen(/no credentials for the request/);
    expect(refusing.received).toHaveLength(before);
    expect(gateway.output).not.toContain("secret of a token");
  },
);

it.each(formats)(
  "a message of a binary stream with a wrong sum ends it with an error: %s",
  async (format) => {
    const stream = (await asks[format]("broken", true)) as AsyncIterable<unknown>;
    const seen: string[] = [];
    const read = async () => {
      for await (const event of stream) seen.push(JSON.stringify(event));
    };
    await expect(read()).rejects.toThrow(/valid response|broken|provider/);
    expect(seen.join("")).toContain("Hi");
    expect(seen.join("")).not.toContain("evil");
  },
);
