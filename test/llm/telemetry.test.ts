import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { complete, fail } from "./llm-upstream.ts";

const json = { "content-type": "application/json" };

function ask({ url }: Gateway, request: object): Promise<Response> {
  const body = { messages: [{ role: "user", content: "Hello" }], ...request };
  return send(`${url}/v1/chat/completions`, "POST", json, JSON.stringify(body));
}

/** A gateway before a provider whose models are called "bad" when they fail. */
async function startCounted(route: object = {}, file: object = {}): Promise<Gateway> {
  const { host } = await startScripted((response, _, request: Received) => {
    if (JSON.parse(request.body.toString()).model.startsWith("bad")) fail(response, 503);
    else complete(response, request);
  });
  return startGateway({
    file,
    listeners: [
      {
        routes: [
          { ...route, backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }] },
        ],
      },
    ],
  });
}

/** The samples of a name, without those of buckets. */
async function samples(gateway: Gateway, name: string): Promise<readonly string[]> {
  const { body } = await send(`http://127.0.0.1:${await gateway.statsPort()}/metrics`, "GET");
  return body.split("\n").filter((line) => line.startsWith(name) && !line.includes("_bucket"));
}

it("the metrics count tokens and times by model, and no models that nobody serves", async () => {
  const gateway = await startCounted();
  await ask(gateway, { model: "gpt-5" });
  await ask(gateway, { model: "gpt-5", stream: true });
  for (let i = 0; i < 3; i++) await ask(gateway, { model: `bad-${i}` });
  const labels =
    'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="gpt-real"';
  expect(await samples(gateway, "gen_ai_client_token_usage_")).toEqual([
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 40`,
    `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="input"} 2`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 10`,
    `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="output"} 2`,
  ]);
  const durations = await samples(gateway, "gen_ai_server_request_duration_count");
  expect(durations).toEqual([
    `gen_ai_server_request_duration_count{${labels},error_type=""} 2`,
    'gen_ai_server_request_duration_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="other",gen_ai_response_model="",error_type="overloaded"} 3',
  ]);
  for (const name of ["time_to_first_token", "time_per_output_token"]) {
    const counts = await samples(gateway, `gen_ai_server_${name}_count`);
    expect(counts).toEqual([`gen_ai_server_${name}_count{${labels}} 1`]);
  }
});

it("the metrics tell a hundred models apart, whatever clients ask for", async () => {
  const gateway = await startCounted();
  await Promise.all(Array.from({ length: 150 }, (_, i) => ask(gateway, { model: `m${i}` })));
  const counts = await samples(gateway, "gen_ai_server_request_duration_count");
  const models = new Set(counts.map((line) => /request_model="([^"]*)"/.exec(line)?.[1]));
  // The name that the provider gives in its responses is one of them.
  expect(models.size).toBe(100);
  expect(models).toContain("other");
});

it("the log reads the times of a stream and the prices of a call", async () => {
  const add = {
    first: "llm.timeToFirstToken < duration('1h')",
    each: "llm.timePerOutputToken < duration('1h')",
    input: "llm.costRates.input > 0.0",
    micros: "uint(llm.cost.total * 1000000) > 0u",
  };
  const gateway = await startCounted({}, { frontendPolicies: { accessLog: { add } } });
  await ask(gateway, { model: "gpt-5", stream: true });
  const line = await eventually(
    () => /^.*\trequest .*$/m.exec(gateway.output)?.[0] ?? null,
    "the line of the request",
  );
  expect(line).toContain(" first=true each=true input=true micros=true");
});

it("the log tells of requests to models, and expressions of it read what is known", async () => {
  const add = {
    asked: "llm.requestModel",
    served: "llm.responseModel",
    who: "llm.provider",
    tokens: "llm.inputTokens + llm.outputTokens == llm.totalTokens",
    cached: "llm.cachedInputTokens",
    reasoned: "llm.reasoningTokens",
    streamed: "llm.streaming",
    heat: "llm.params.temperature",
    first: "llm.prompt[0].content",
    kind: 'backend.type + "/" + backend.protocol',
  };
  const gateway = await startCounted({}, { frontendPolicies: { accessLog: { add } } });
  await ask(gateway, { model: "gpt-5", temperature: 0.5 });
  const line = await eventually(
    () => /^.*\trequest .*$/m.exec(gateway.output)?.[0] ?? null,
    "the line of the request",
  );
  for (const field of [
    "protocol=llm",
    "gen_ai.operation.name=chat",
    "gen_ai.provider.name=openai",
    "gen_ai.request.model=gpt-5",
    "gen_ai.response.model=gpt-real",
    "gen_ai.request.temperature=0.5",
    "gen_ai.usage.input_tokens=20",
    "gen_ai.usage.cache_read.input_tokens=4",
    "gen_ai.usage.output_tokens=5",
    "gen_ai.usage.reasoning.output_tokens=2",
    "gen_ai.response.finish_reasons=stop",
    "asked=gpt-5 served=gpt-real who=openai tokens=true cached=4 reasoned=2 streamed=false heat=0.5",
    "first=Hello kind=ai/llm",
  ]) {
    expect(line).toContain(` ${field}`);
  }
});

it("a policy of responses reads who was asked for which model", async () => {
  const gateway = await startCounted({
    policies: {
      transformations: {
        response: {
          set: { "x-asked": 'llm.provider + " " + llm.requestModel + " " + backend.type' },
        },
      },
    },
  });
  for (const stream of [false, true]) {
    const { headers } = await ask(gateway, { model: "gpt-5", stream });
    expect(headers["x-asked"]).toBe("openai gpt-5 ai");
  }
});

it("the log tells of tokens that were counted", async () => {
  const { host } = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"input_tokens":42}');
  });
  const routes = { "/v1/messages/count_tokens": "tokenCount" };
  const gateway = await startGateway({
    file: { frontendPolicies: { accessLog: { add: { counted: "llm.countTokens" } } } },
    listeners: [
      {
        routes: [
          {
            policies: { ai: { routes } },
            backends: [{ ai: { provider: { anthropic: {} }, hostOverride: host } }],
          },
        ],
      },
    ],
  });
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  const { status } = await send(`${gateway.url}/v1/messages/count_tokens`, "POST", json, body);
  expect(status).toBe(200);
  await gateway.seen(/ counted=42/);
});
