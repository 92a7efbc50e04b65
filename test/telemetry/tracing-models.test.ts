import { expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { startGateway } from "../harness/gateway.ts";
import { startGuardWebhook } from "../harness/guard-webhook.ts";
import { startCollector, tracedAll } from "../harness/otlp-collector.ts";
import { patient } from "../harness/patient-callout.ts";
import { startUpstream } from "../harness/upstream.ts";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "gpt-4o-2024-08-06",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
};

it("a request to a model is a span by the conventions for generative AI", async () => {
  const collector = await startCollector();
  const model = await startUpstream((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(completion));
    });
  });
  const { host, port } = new URL(model);
  const ai = { name: "m", provider: { openAI: {} }, hostOverride: host, policies: {} };
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [{ name: "http", routes: [{ name: "models", backends: [{ ai }] }] }],
  });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "gpt-4o",
      messages: [{ role: "user", content: "secret words" }],
    }),
  });
  expect(response.status).toBe(200);
  await response.text();
  expect(await gateway.stop()).toBe(0);
  const [client] = collector.spans.filter(({ kind }) => kind === "SPAN_KIND_CLIENT");
  expect(client).toMatchObject({ name: "chat gpt-4o", error: undefined });
  const finish = { values: [{ stringValue: "stop" }] };
  const known = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.model": "gpt-4o-2024-08-06",
    "gen_ai.response.id": "chatcmpl-1",
    "gen_ai.response.finish_reasons": finish,
    "http.request.method": "POST",
    "http.response.status_code": 200,
    "server.address": "127.0.0.1",
    "server.port": Number(port),
  };
  expect(client?.attributes).toMatchObject(known);
  const [server] = collector.spans.filter(({ kind }) => kind === "SPAN_KIND_SERVER");
  const { "server.port": _port, "server.address": _address, ...ofRequest } = known;
  // Only once: tools for conversations add up the tokens of all spans.
  const tokens = { "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 5 };
  expect(server?.attributes).toMatchObject({ ...ofRequest, ...tokens });
  for (const name of Object.keys(tokens)) expect(client?.attributes).not.toHaveProperty([name]);
  expect(JSON.stringify(collector.requests)).not.toContain("secret words");
});

it("each call of a guard to its server is a span of the request, counted by its result", async () => {
  const collector = await startCollector();
  const webhook = await startGuardWebhook();
  const model = await startUpstream((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(completion));
    });
  });
  const hook = (kind: string) => ({
    webhook: { target: { host: `${webhook.url}/${kind}`, policies: patient } },
  });
  const route = (name: string, promptGuard: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { ai: { promptGuard } },
    backends: [{ ai: { provider: { openAI: {} }, hostOverride: new URL(model).host } }],
  });
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing: { host: collector.host, protocol: "http" } } },
    listeners: [
      {
        name: "http",
        routes: [
          route("passes", { request: [hook("pass")], response: [hook("pass")] }),
          route("rejects", { request: [hook("reject")] }),
          route("fails", { request: [hook("no-json")] }),
        ],
      },
    ],
  });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const asked = async (name: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/${name}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "secret1" }] }),
    });
    await response.text();
    return response.status;
  };
  expect(await asked("passes")).toBe(200);
  expect(await asked("rejects")).toBe(451);
  expect(await asked("fails")).toBe(503);
  const { value } = await expositionOf(await gateway.statsPort());
  expect(await gateway.stop()).toBe(0);
  const below = (route: string) => {
    const [request] = collector.spans.filter(
      ({ kind, attributes }) =>
        kind === "SPAN_KIND_SERVER" && String(attributes["url.path"]).startsWith(`/${route}/`),
    );
    return collector.spans
      .filter(({ parentSpanId }) => parentSpanId === request?.spanId)
      .map(({ name }) => name)
      .sort();
  };
  expect(below("passes")).toEqual(["POST", "POST", "chat gpt-4o"]);
  expect(below("rejects")).toEqual(["POST"]);
  expect(below("fails")).toEqual(["POST"]);
  const target = new URL(webhook.url).host;
  const counted = (result: string) =>
    value(`gwc_callouts_total{kind="promptGuard",target="${target}",result="${result}"}`);
  expect(["ok", "denied", "failed"].map(counted)).toEqual([2, 1, 1]);
});
