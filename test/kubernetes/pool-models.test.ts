import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { statusOf } from "../../compiler/status/status.ts";
import { atEnd } from "../harness/at-end.ts";
import { echoFrame, upgradeResponse } from "../harness/echo-frame.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { checkManifests, complaints } from "./manifests.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));

let picker: EnvoyServices;
let gateway: Gateway;
let port: number;
/** Bodies that the model servers received, and the addresses of those whose client left. */
const received: { address: string; body: { model: string; messages: { content: string }[] } }[] =
  [];
const left: string[] = [];

beforeAll(async () => {
  port = await freePort();
  for (const address of ["127.0.0.2", "127.0.0.3"]) await startModel(address);
  picker = await startEnvoyServices();
  gateway = await startGateway({
    config: manifests(await freePort()),
    env: {
      NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${names}`,
      GWC_TEST_NAMES: JSON.stringify({
        "pods.default.svc.cluster.local": [["127.0.0.2", "127.0.0.3"]],
      }),
    },
  });
});

/** Starts a model server with OpenAI's API, which responds with its address. A prompt `wait` gets no response. */
async function startModel(address: string): Promise<void> {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request));
    received.push({ address, body });
    if (body.messages[0].content === "wait") {
      response.on("close", () => left.push(address));
      return;
    }
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const base = { id: "chatcmpl-1", created: 1, model: body.model };
    if (body.stream !== true) {
      const message = { role: "assistant", content: address };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...base, object: "chat.completion", choices, usage }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (more: object) =>
      response.write(
        `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...more })}\n\n`,
      );
    for (const content of address.split(/(?=\.)/))
      event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    event({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  });
  server.on("upgrade", (request, socket: Socket) => {
    socket.write(upgradeResponse(request));
    socket.write(Buffer.concat([Buffer.from([0x81, address.length]), Buffer.from(address)]));
    socket.on("data", (frame) => {
      socket.write(echoFrame(frame));
      if (frame[0] === 0x88) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  atEnd(() => server.close());
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

/** A model that the servers of a pool have. */
function model(name: string, more: string, match = name): string {
  return `{apiVersion: agentgateway.dev/v1alpha1, kind: AgentgatewayModel, metadata: {name: ${name}}, spec: {
  parentRefs: [{name: gw, sectionName: llm}], match: {model: ${match}}, ${more}}}
---
`;
}

function ofPool(name: string): string {
  return `provider: Custom, custom: {formats: [{type: Completions}], backendRef: {
  group: inference.networking.k8s.io, kind: InferencePool, name: ${name}}}`;
}

function pool(name: string, failureMode: string, pickedBy = "picker"): string {
  return `{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: ${name}}, spec: {
  selector: {matchLabels: {app: models}}, targetPorts: [{number: ${port}}],
  endpointPickerRef: {name: ${pickedBy}, failureMode: ${failureMode}, port: {number: 9002}}}}
---
`;
}

function service(name: string, at: number): string {
  return `{apiVersion: v1, kind: Service, metadata: {name: ${name}}, spec: {ports: [{port: 9002}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ${name}, labels: {
  kubernetes.io/service-name: ${name}}}, addressType: IPv4, ports: [{port: ${at}}],
  endpoints: [{addresses: [127.0.0.1]}]}
---
`;
}

function manifests(listened: number): string {
  return `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {
  gatewayClassName: gwc, listeners: [{name: llm, port: ${listened}, protocol: HTTP, allowedRoutes: {kinds: [
    {group: agentgateway.dev, kind: AgentgatewayModel}, {kind: HTTPRoute}]}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: pods}, spec: {
  clusterIP: None, selector: {app: models}, ports: [{port: 80}]}}
---
${service("picker", picker?.port ?? 9002)}${service("nobody", 1)}${pool("closed", "FailClose")}${pool("open", "FailOpen")}${pool("unpicked", "FailOpen", "nobody")}
${model("llama", ofPool("closed"))}
${model("careless", ofPool("open"))}
${model("unpicked", ofPool("unpicked"))}
${model("guarded", `${ofPool("closed")}, policies: {promptGuard: {request: [{regex: {action: Mask, matches: ["secret-[0-9]{2}"]}}]}}`)}
${model("either", `virtualModel: {failover: {targets: [{modelRef: {name: llama}, priority: 0}, {modelRef: {name: careless}, priority: 1}]}}`)}
{apiVersion: agentgateway.dev/v1alpha1, kind: AgentgatewayBackend, metadata: {name: grouped}, spec: {ai: {groups: [
  {providers: [{name: own, custom: {model: of-the-pool, formats: [{type: Completions}, {type: Realtime}], backendRef: {
    group: inference.networking.k8s.io, kind: InferencePool, name: closed}}}]}]},
  policies: {ai: {routes: {/v1/chat/completions: Completions, /v1/realtime: Realtime}}}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: grouped}, spec: {
  parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /grouped}}], backendRefs: [
    {group: agentgateway.dev, kind: AgentgatewayBackend, name: grouped}]}]}}
`;
}

/** Returns the header that makes the picker name an endpoint; none if `undefined`. */
function picks(endpoint: string | undefined): Record<string, string> {
  if (endpoint === undefined) return {};
  const raw_value = Buffer.from(endpoint).toString("base64");
  const set_headers = [{ header: { key: "x-gateway-destination-endpoint", raw_value } }];
  const response = { header_mutation: { set_headers } };
  return { "x-process": JSON.stringify({ request_headers: { request_headers: { response } } }) };
}

function clientOf(defaultHeaders: Record<string, string>, path = "/v1"): OpenAI {
  return new OpenAI({
    ...{ apiKey: "client", maxRetries: 0, defaultHeaders },
    baseURL: `${gateway.url}${path}`,
  });
}

async function ask(
  name: string,
  headers: Record<string, string>,
  content = "Hello",
): Promise<string> {
  const messages = [{ role: "user" as const, content }];
  const { choices } = await clientOf(headers).chat.completions.create({ model: name, messages });
  return choices[0]?.message.content ?? "";
}

describe("a model of an InferencePool", () => {
  it("is served by the pods that the picker names", async () => {
    for (const address of ["127.0.0.3", "127.0.0.2"])
      expect(await ask("llama", picks(`${address}:${port}`))).toBe(address);
    expect(received.at(-1)).toMatchObject({ address: "127.0.0.2", body: { model: "llama" } });
    const bodies = picker.seen().map(({ message }) => message);
    expect(bodies.some((each) => textIn(each.request_body).includes('"model":"llama"'))).toBe(true);
    expect(bodies.some((each) => textIn(each.response_body).includes("prompt_tokens"))).toBe(true);
  });

  it("streams, and its tokens are counted", async () => {
    const messages = [{ role: "user" as const, content: "Hello" }];
    const stream = await clientOf(picks(`127.0.0.3:${port}`)).chat.completions.create({
      ...{ model: "llama", messages, stream: true as const },
      stream_options: { include_usage: true },
    });
    let text = "";
    let total: number | undefined;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? "";
      total = usage?.total_tokens ?? total;
    }
    expect({ text, total }).toEqual({ text: "127.0.0.3", total: 5 });
    await gateway.seen(
      /selected_endpoint=127\.0\.0\.3:\d+ .*gen_ai\.usage\.input_tokens=3 .*output_tokens=2/,
    );
  });

  it("responds with an error of its client's API if the picker names no endpoint of the pool", async () => {
    for (const endpoint of [undefined, "127.0.0.9:80", `127.0.0.2:${port + 1}`])
      await expect(ask("llama", picks(endpoint))).rejects.toMatchObject({ status: 503 });
  });

  it("is served by any pod with FailOpen, without an endpoint and without a picker", async () => {
    expect(await ask("careless", {})).toMatch(/^127\.0\.0\.[23]$/);
    expect(await ask("unpicked", {})).toMatch(/^127\.0\.0\.[23]$/);
  });

  it("responds with the picker's own response", async () => {
    const immediate_response = { status: { code: "TooManyRequests" }, body: "YnVzeQ==" };
    const headers = { "x-process": JSON.stringify({ request_headers: { immediate_response } }) };
    await expect(ask("llama", headers)).rejects.toMatchObject({ status: 429 });
  });

  it("shows neither the picker nor the pod what a guard masks", async () => {
    const before = picker.seen().length;
    await ask("guarded", picks(`127.0.0.2:${port}`), "it is secret-42");
    expect(received.at(-1)?.body.messages[0]?.content).not.toContain("secret-42");
    const texts = picker
      .seen()
      .slice(before)
      .map(({ message }) => textIn(message.request_body));
    expect(texts.join("")).toContain("it is");
    expect(texts.join("")).not.toContain("secret-42");
  });

  it("fails over to another model if there is no endpoint", async () => {
    expect(await ask("either", {})).toMatch(/^127\.0\.0\.[23]$/);
  });

  it("is a provider of a GatewayBackend, too", async () => {
    const messages = [{ role: "user" as const, content: "Hello" }];
    const client = clientOf(picks(`127.0.0.3:${port}`), "/grouped/v1");
    await client.chat.completions.create({ model: "any", messages });
    expect(received.at(-1)).toMatchObject({ address: "127.0.0.3", body: { model: "of-the-pool" } });
  });

  it("has the Realtime API of the pod that the picker names", async () => {
    const url = `${gateway.url.replace("http", "ws")}/grouped/v1/realtime?model=any`;
    const client = new WebSocket(url, { headers: picks(`127.0.0.3:${port}`) });
    const received: unknown[] = [];
    client.onmessage = ({ data }) => received.push(data);
    client.onopen = () => client.send("Hello");
    await eventually(() => (received.length === 2 ? true : null), "two messages");
    expect(received).toEqual(["127.0.0.3", "Hello"]);
    const closed = new Promise((resolve) => client.addEventListener("close", resolve));
    client.close();
    await closed;
  });

  it("stops at the pod when its client leaves", async () => {
    const leaving = new AbortController();
    const messages = [{ role: "user" as const, content: "wait" }];
    const response = clientOf(picks(`127.0.0.2:${port}`)).chat.completions.create(
      { model: "llama", messages },
      { signal: leaving.signal },
    );
    const caught = response.catch((error: Error) => error.name);
    await eventually(
      () => received.at(-1)?.body.messages[0]?.content === "wait" || null,
      "a request",
    );
    leaving.abort();
    await caught;
    await eventually(() => left.at(0) ?? null, "the end of the request at the pod");
    expect(left).toEqual(["127.0.0.2"]);
  });
});

function textIn(part: { body?: string } | undefined): string {
  return Buffer.from(part?.body ?? "", "base64").toString();
}

it("the status of a pool names the Gateways of its models", () => {
  const checked = checkManifests(manifests(8080));
  expect(complaints(checked)).toEqual([]);
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.kubernetes).find(
    ({ metadata }) => metadata.name === "closed",
  );
  expect(found?.status).toMatchObject({
    parents: [
      {
        parentRef: { name: "gw" },
        conditions: [
          { type: "Accepted", status: "True" },
          { type: "ResolvedRefs", status: "True" },
        ],
      },
    ],
  });
});

it("a model of a missing pool, or of a pool without a picker, is refused", () => {
  const told = (text: string) => complaints(checkManifests(text)).join();
  const missing = manifests(8080).replaceAll(
    "name: unpicked}, spec: {\n  selector",
    "name: other}, spec: {\n  selector",
  );
  expect(told(missing)).toContain('there is no InferencePool "default/unpicked"');
  expect(
    told(
      manifests(8080).replace(
        "endpointPickerRef: {name: nobody,",
        "endpointPickerRef: {name: no-one,",
      ),
    ),
  ).toContain('there is no Service "default/no-one"');
});
