import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type EnvoyServices,
  type SeenMessage,
  startEnvoyServices,
} from "../harness/envoy-services.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { type OtlpCollector, startCollector } from "../harness/otlp-collector.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Response, send } from "../harness/send.ts";

let services: EnvoyServices;
let collector: OtlpCollector;
let gateway: Gateway;
/** The requests that the model received. */
const asked: string[] = [];

beforeAll(async () => {
  [services, collector] = await Promise.all([startEnvoyServices(), startCollector()]);
  const host = `127.0.0.1:${services.port}`;
  const entries = [{ key: "user", value: 'request.headers["x-user"]' }];
  const policies = {
    extAuthz: { host, policies: patient, includeRequestBody: { maxRequestBytes: 8192 } },
    remoteRateLimit: { host, policies: patient, domain: "agents", descriptors: [{ entries }] },
    extProc: {
      host,
      policies: patient,
      processingOptions: { requestBodyMode: "buffered", responseBodyMode: "buffered" },
    },
  };
  const tools = {
    name: "tools",
    matches: [{ path: { pathPrefix: "/mcp" } }],
    backends: [
      {
        mcp: {
          targets: [{ name: "web", mcp: { host: (await startMcpServer()).url } }],
        },
      },
    ],
  };
  const models = {
    name: "models",
    matches: [{ path: { pathPrefix: "/v1" } }],
    backends: [{ ai: { provider: { openAI: {} }, hostOverride: await startModel() } }],
  };
  const routes = [tools, models];
  gateway = await startGateway({
    file: { frontendPolicies: { tracing: { host: collector.host, protocol: "http" } } },
    listeners: [
      { name: "listener", hostname: "listener.test", policies, routes },
      {
        name: "route",
        hostname: "route.test",
        routes: routes.map((route) => ({ ...route, policies })),
      },
    ],
  });
});

async function startModel(): Promise<string> {
  const server = createServer(async (request, response) => {
    asked.push(await text(request));
    const message = { role: "assistant", content: "hi" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ id: "1", object: "chat.completion", model: "m", choices, usage }),
    );
  });
  return `127.0.0.1:${await listen(server)}`;
}

const call = (name: string) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });
const question = (content: string) =>
  JSON.stringify({ model: "m", messages: [{ role: "user", content }] });

/** Returns the processor's script for replacing a body. */
function instead(phase: "request_body" | "response_body", body: string): Record<string, string> {
  const response = { body_mutation: { body: btoa(body) } };
  return { "x-process": JSON.stringify({ [phase]: { [phase]: { response } } }) };
}

describe.each(["route", "listener"])("callouts of a %s", (form) => {
  /** Sends a request; each user may send three. */
  const post = (
    path: string,
    user: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    send(
      `${gateway.url}${path}`,
      "POST",
      {
        ...{ host: `${form}.test`, "x-user": `${user}-${form}` },
        ...{ accept: "application/json, text/event-stream", "content-type": "application/json" },
        ...headers,
      },
      body,
    );

  it("show tool calls and model requests to the authorization server, including bodies", async () => {
    const deny = { "x-verdict": JSON.stringify({ status: { code: 7 } }) };
    const before = asked.length;
    const tool = await post("/mcp", "denied", call("hello"), deny);
    const model = await post("/v1/chat/completions", "denied", question("hello"), deny);
    expect([tool.status, model.status]).toEqual([403, 403]);
    // The protocol is unknown before routing.
    if (form === "route") {
      expect(JSON.parse(tool.body).error.code).toBe(-32_000);
      expect(JSON.parse(model.body).error.type).toBe("permission_error");
    }
    expect(asked).toHaveLength(before);
    expect(seenOf(`denied-${form}`).map(({ message }) => bodyOf(message))).toEqual([
      call("hello"),
      question("hello"),
    ]);
  });

  it("let a processor change requests to tools and models, and their responses", async () => {
    const add = await post("/mcp", "tool", call("hello"), instead("request_body", call("add")));
    expect(add.body).toContain('"text":"add"');
    const changed = await post("/mcp", "tool", call("hello"), instead("response_body", "other"));
    expect(changed).toMatchObject({ status: 200, body: "other" });
    const other = instead("request_body", question("other"));
    expect((await post("/v1/chat/completions", "model", question("hello"), other)).status).toBe(
      200,
    );
    expect(asked.at(-1)).toContain("other");
    const response = instead("response_body", "else");
    expect(await post("/v1/chat/completions", "model", question("hello"), response)).toMatchObject({
      status: 200,
      body: "else",
    });
  });

  it("count tool calls and model requests together", async () => {
    const statuses: number[] = [];
    for (const [path, body] of [
      ["/mcp", call("hello")],
      ["/v1/chat/completions", question("hello")],
      ["/mcp", call("hello")],
    ] as const) {
      statuses.push((await post(path, "busy", body)).status);
    }
    expect(statuses).toEqual([200, 200, 200]);
    const tool = await post("/mcp", "busy", call("hello"));
    const model = await post("/v1/chat/completions", "busy", question("hello"));
    expect([tool.status, model.status]).toEqual([429, 429]);
    if (form === "route") {
      expect(JSON.parse(tool.body).jsonrpc).toBe("2.0");
      expect(JSON.parse(model.body).error.type).toBe("rate_limit_error");
    }
  });
});

it("each callout is a span below the request, next to that of the tool or the model", async () => {
  const spansOf = async (host: string, path: string, body: string, index: number) => {
    const traceId = `${index}`.padStart(32, "a");
    const headers = {
      host,
      "content-type": "application/json",
      "x-user": `traced-${host}-${path}`,
    };
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const accept = "application/json, text/event-stream";
    await send(`${gateway.url}${path}`, "POST", { ...headers, accept, traceparent }, body);
    return traceId;
  };
  const cases = [
    ["route.test", "/mcp", call("hello"), "tools/call hello"],
    ["listener.test", "/mcp", call("hello"), "tools/call hello"],
    ["route.test", "/v1/chat/completions", question("hi"), "chat m"],
    ["listener.test", "/v1/chat/completions", question("hi"), "chat m"],
  ] as const;
  const traces: string[] = [];
  for (const [index, [host, path, body]] of cases.entries())
    traces.push(await spansOf(host, path, body, index + 1));
  expect(await gateway.stop()).toBe(0);
  for (const [index, [, , , name]] of cases.entries()) {
    const spans = collector.spans.filter(({ traceId }) => traceId === traces[index]);
    const [server] = spans.filter(({ kind }) => kind === "SPAN_KIND_SERVER");
    const below = spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    expect(new Set(below.map((span) => span.name))).toEqual(
      new Set([
        "envoy.service.auth.v3.Authorization/Check",
        "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
        "envoy.service.ext_proc.v3.ExternalProcessor/Process",
        name,
      ]),
    );
    expect(spans).toHaveLength(below.length + 1);
  }
});

/** Returns the check requests about a user's requests. */
function seenOf(user: string): readonly SeenMessage[] {
  return services
    .seen()
    .filter(({ call, message }) => call === "Check" && userOf(message) === user);
}

function userOf(message: SeenMessage["message"]): unknown {
  return message.attributes.request.http.headers["x-user"];
}

function bodyOf(message: SeenMessage["message"]): unknown {
  return message.attributes.request.http.body;
}
