import { beforeAll, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { initialize, post } from "../mcp/raw-client.ts";
import { startRoutes } from "./routes.ts";

let server: Scripted;
let model: Scripted;
let echo: Awaited<ReturnType<typeof startEcho>>;
let gateway: Gateway;
/** The paths that the authorization server was asked about, in order. */
const asked: string[] = [];

beforeAll(async () => {
  [server, model, echo] = await Promise.all([
    startScripted((response, _count, { headers, url = "" }) => {
      asked.push(url);
      if (headers.authorization === "Bearer alice")
        response.writeHead(200, { "x-user": "alice" }).end();
      else response.writeHead(401, { "x-why": "no token" }).end("who are you?");
    }, "anything"),
    startScripted((response) =>
      response.end(
        JSON.stringify({
          ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
          choices: [
            { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" },
          ],
        }),
      ),
    ),
    startEcho(),
  ]);
  const services = await startEnvoyServices();
  const tools = await startMcpServer();
  const http = (path: string) => ({
    host: server.host,
    policies: patient,
    protocol: { http: { path, includeResponseHeaders: ["x-user"] } },
  });
  const own = { extAuthz: http('"/backend?" + request.path') };
  const host = new URL(echo.url).host;
  const ai = {
    name: "openai",
    provider: { openAI: { model: "m" } },
    hostOverride: model.host,
  };
  gateway = await startRoutes(
    {
      plain: { policies: {}, backends: [{ host, policies: own }] },
      both: { policies: { extAuthz: http('"/route"') }, backends: [{ host, policies: own }] },
      grpc: {
        policies: {},
        backends: [
          {
            host,
            policies: {
              extAuthz: {
                host: new URL(services.url).host,
                policies: patient,
                protocol: { grpc: { metadata: { "my.space": '{"path": request.path}' } } },
              },
            },
          },
        ],
      },
      model: {
        policies: {},
        paths: [{ pathPrefix: "/model/v1/chat/completions" }],
        backends: [{ ai, policies: { ...own, ai: { routes: { "*": "completions" } } } }],
      },
      tools: {
        policies: {},
        backends: [
          { mcp: { targets: [{ name: "one", mcp: { host: tools.url } }] }, policies: own },
        ],
      },
    },
    echo,
  );
});

const alice = { authorization: "Bearer alice" };

/** Sends a request; what the server was asked meanwhile, the status, and what its backend received as the user. */
async function ask(path: string, headers: Record<string, string> = {}) {
  asked.length = 0;
  const { status, body } = await send(`${gateway.url}${path}`, "GET", headers);
  const user = status === 200 ? JSON.parse(body).headers["x-user"] : body;
  return [status, user, ...asked];
}

it("the server of a backend decides about its requests, after that of the route", async () => {
  expect(await ask("/plain", alice)).toEqual([200, "alice", "/backend?/plain"]);
  expect(await ask("/plain", { "x-user": "root" })).toEqual([
    401,
    "who are you?",
    "/backend?/plain",
  ]);
  expect(await ask("/both", alice)).toEqual([200, "alice", "/route", "/backend?/both"]);
  expect(await ask("/both")).toEqual([401, "who are you?", "/route"]);
});

it("it decides about calls of models and tools", async () => {
  const chat = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const call = (headers: object) =>
    send(
      `${gateway.url}/model/v1/chat/completions`,
      "POST",
      { "content-type": "application/json", ...headers },
      chat,
    );
  expect((await call({})).status).toBe(401);
  expect(model.received).toEqual([]);
  expect((await call(alice)).status).toBe(200);
  const url = `${gateway.url}/tools`;
  expect((await post(url, initialize)).status).toBe(401);
  expect((await post(url, initialize, alice)).status).toBe(200);
});

it("a server that speaks gRPC decides, too", async () => {
  const verdict = (value: object) => ({ "x-verdict": JSON.stringify(value) });
  expect((await ask("/grpc", verdict({})))[0]).toBe(200);
  expect((await ask("/grpc", verdict({ status: { code: 7 } })))[0]).toBe(403);
});

it("in manifests, it is a field of the backend, or of a policy for it", async () => {
  const [host, port] = new URL(echo.url).host.split(":");
  const [authHost, authPort] = server.host.split(":");
  const api = "gateway.networking.k8s.io/v1";
  const rule = (name: string) =>
    `{matches: [{path: {value: /${name}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${name}}, {group: gwc.dev, kind: GatewayBackend, name: ${name}, weight: 2}]}`;
  const extAuth = `{backendRef: {group: gwc.dev, kind: GatewayBackend, name: auth}, http: {path: '"/backend?" + request.path', allowedResponseHeaders: [x-user]}}`;
  const backend = (name: string, more = "") =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: ${host}, port: ${port}}${more}}}`;
  const target = "{group: gwc.dev, kind: GatewayBackend, name: targeted}";
  const isolated = await startIsolated(
    [
      `{apiVersion: ${api}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: ${api}, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${["own", "targeted", "free"].map(rule).join(", ")}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: auth}, spec: {static: {host: ${authHost}, port: ${authPort}}}}`,
      backend("own", `, policies: {extAuth: ${extAuth}}`),
      backend("targeted"),
      backend("free"),
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [${target}], backend: {extAuth: ${extAuth}}}}`,
    ].join("\n---\n"),
  );
  const statuses = async (path: string) => [
    (await send(`${isolated.url}${path}`, "GET")).status,
    (await send(`${isolated.url}${path}`, "GET", alice)).status,
  ];
  expect(await statuses("/own")).toEqual([401, 200]);
  expect(await statuses("/targeted")).toEqual([401, 200]);
  expect(await statuses("/free")).toEqual([200, 200]);
});
