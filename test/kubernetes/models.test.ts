import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests } from "./manifests.ts";
import { modelsRoute } from "./models-route.ts";

/** A provider that answers with the name of the model that it was asked for. */
async function startProvider() {
  return startScripted((response, _, { body }) => {
    const { model } = JSON.parse(String(body)) as { model: string };
    const message = { role: "assistant", content: model };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model },
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      }),
    );
  });
}

/** A Gateway whose listener serves models and HTTPRoutes. */
function gatewayOf(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  listeners:
  - name: llm
    port: ${port}
    protocol: HTTP
    allowedRoutes: {kinds: [{group: agentgateway.dev, kind: AgentgatewayModel}, {kind: HTTPRoute}]}
---
`;
}

function model(name: string, spec: string, parent = "{name: gw, sectionName: llm}"): string {
  return `
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayModel
metadata: {name: ${name}}
spec:
  parentRefs: [${parent}]
${spec}
---
`;
}

function chat(url: string, path = "/v1", defaultHeaders: Record<string, string> = {}) {
  const settings = { apiKey: "client", maxRetries: 0, defaultHeaders };
  const client = new OpenAI({ ...settings, baseURL: `${url}${path}` });
  return {
    ask: async (name: string, tokens?: number) => {
      const messages = [{ role: "user" as const, content: "Hello" }];
      const { choices } = await client.chat.completions.create({
        ...{ model: name, messages },
        ...(tokens !== undefined && { max_tokens: tokens }),
      });
      return choices[0]?.message.content;
    },
    names: async () => (await client.models.list()).data.map(({ id }) => id).toSorted(),
  };
}

/** The Service of a server at an address. */
function house(address: string, name = "house"): string {
  const [host, port] = address.split(":");
  return `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {clusterIP: None, ports: [{port: 8000}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${name}-1, labels: {kubernetes.io/service-name: ${name}}}
addressType: IPv4
ports: [{port: ${port}}]
endpoints: [{addresses: ["${host}"]}]
---
`;
}

/** A model of a Service. */
function custom(service: string): string {
  return `  provider: Custom
  custom: {formats: [{type: Completions}], backendRef: {name: ${service}, port: 8000}}`;
}

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {Authorization: unused}
---
`;

/** The mounted Secret `key`. */
function withKey(key: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "secrets", "key"), { recursive: true });
  writeFileSync(join(folder, "secrets", "key", "Authorization"), `${key}\n`);
  return { folder, env: { GWC_SECRETS_DIR: join(folder, "secrets") } };
}

it("a listener serves the models that attach to it, with their own policies", async () => {
  const provider = await startProvider();
  const { url } = await startGateway({
    ...withKey("sk-of-the-gateway"),
    config: [
      gatewayOf(await freePort()),
      secret,
      house(provider.host),
      model(
        "a-house",
        `  match: {model: "house/*"}
${custom("house")}
  policies:
    auth: {secretRef: {name: key}}
    headers: {request: {set: [{name: x-team, value: house}]}}
    transformations: [{field: model, expression: 'llmRequest.model.stripPrefix("house/")'}]`,
      ),
      model("small", `  visibility: Internal\n${custom("house")}`),
      model(
        "best",
        `  virtualModel:
    conditional:
      targets:
      - {modelRef: {name: small}, when: 'has(llmRequest.max_tokens)'}
      - {modelRef: {name: a-house}, model: house/large}`,
      ),
    ].join(""),
  });
  const { ask, names } = chat(url);
  expect(await ask("house/tiny")).toBe("tiny");
  expect(provider.received[0]?.headers).toMatchObject({
    authorization: "Bearer sk-of-the-gateway",
    "x-team": "house",
  });
  expect(await ask("best")).toBe("large");
  expect(await ask("best", 10)).toBe("small");
  expect(provider.received.at(-1)?.headers).toMatchObject({ authorization: "Bearer client" });
  expect(provider.received.at(-1)?.headers).not.toHaveProperty("x-team");
  expect(await names()).toEqual(["best"]);
  await expect(ask("small")).rejects.toMatchObject({ status: 404 });
});

it("rules of a model decide who may use it and who sees it in the list", async () => {
  const provider = await startProvider();
  const { url } = await startGateway({
    config: [
      gatewayOf(await freePort()),
      house(provider.host),
      model(
        "secret",
        `${custom("house")}
  policies: {authorization: {policy: {matchExpressions: ['request.headers["x-team"] == "red"']}}}`,
      ),
      model("open", custom("house")),
      model("mixed", "  virtualModel: {weighted: {targets: [{modelRef: {name: secret}}]}}"),
    ].join(""),
  });
  const red = chat(url, "/v1", { "x-team": "red" });
  expect(await red.ask("secret")).toBe("secret");
  expect(await red.ask("mixed")).toBe("secret");
  expect(await red.names()).toEqual(["mixed", "open", "secret"]);
  const others = chat(url);
  await expect(others.ask("secret")).rejects.toMatchObject({ status: 403 });
  await expect(others.ask("mixed")).rejects.toMatchObject({ status: 403 });
  expect(await others.names()).toEqual(["open"]);
});

it("a failover skips the models whose rules deny a request", async () => {
  const provider = await startProvider();
  const red = `policies: {authorization: {policy: {matchExpressions: ['request.headers["x-team"] == "red"']}}}`;
  const failover = (name: string, ...targets: readonly string[]): string =>
    model(
      name,
      `  virtualModel:
    failover:
      targets: [${targets.map((each, priority) => `{modelRef: {name: ${each}}, priority: ${priority}}`).join(", ")}]`,
    );
  const { url } = await startGateway({
    config: [
      gatewayOf(await freePort()),
      house(provider.host),
      model("secret", `${custom("house")}\n  ${red}`),
      model("open", custom("house")),
      failover("best", "secret", "open"),
      failover("closed", "secret"),
    ].join(""),
  });
  expect(await chat(url, "/v1", { "x-team": "red" }).ask("best")).toBe("secret");
  expect(await chat(url).ask("best")).toBe("open");
  await expect(chat(url).ask("closed")).rejects.toMatchObject({ status: 403 });
});

it("a virtual model fails over to the model of the next priority while the first is evicted", async () => {
  const provider = await startProvider();
  const down = await startScripted((response) => {
    response.statusCode = 503;
    response.end("{}");
  });
  const { url } = await startGateway({
    config: [
      gatewayOf(await freePort()),
      house(provider.host),
      house(down.host, "down"),
      model(
        "primary",
        `${custom("down")}
  policies: {health: {unhealthyCondition: response.code == 503, eviction: {duration: 1h, consecutiveFailures: 1}}}`,
      ),
      model("spare", custom("house")),
      model(
        "best",
        `  virtualModel:
    failover:
      targets:
      - {modelRef: {name: primary}, priority: 0}
      - {modelRef: {name: spare}, priority: 1}`,
      ),
    ].join(""),
  });
  const { ask } = chat(url);
  expect(await ask("best")).toBe("spare");
  expect(await ask("best")).toBe("spare");
  expect(down.received.length).toBe(1);
});

it("a rule of an HTTPRoute serves its own models below its path", async () => {
  const provider = await startProvider();
  const route = (team: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ${team}}
spec:
  parentRefs: [{name: gw}]
  rules:
  - name: models
    matches: [{path: {value: /${team}}}]
    backendRefs: [{group: gwc.dev, kind: GatewayModel, name: "*"}]
---
`;
  const { url } = await startGateway({
    config: [
      gatewayOf(await freePort()),
      house(provider.host),
      ...["red", "blue"].map((team) => route(team)),
      model("one", custom("house"), "{kind: HTTPRoute, name: red}"),
      model("two", custom("house"), "{kind: HTTPRoute, name: blue, sectionName: models}"),
    ].join(""),
  });
  expect(await chat(url, "/red/v1").ask("one")).toBe("one");
  expect(await chat(url, "/blue/v1").names()).toEqual(["two"]);
  await expect(chat(url, "/blue/v1").ask("one")).rejects.toMatchObject({ status: 404 });
});

it("a GatewayBackend reaches a custom server through a Service, with the policies of the Service", async () => {
  const provider = await startProvider();
  const { url } = await startGateway({
    ...withKey("sk-of-the-service"),
    config: `${modelsRoute(await freePort())}${house(provider.host)}
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec: {ai: {provider: {custom: {formats: [{type: Completions}], backendRef: {name: house, port: 8000}}}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: key}
spec:
  targetRefs: [{group: "", kind: Service, name: house}]
  backend: {auth: {secretRef: {name: key}}}
---${secret}`,
  });
  expect(await chat(url).ask("tiny")).toBe("tiny");
  expect(provider.received[0]?.headers.authorization).toBe("Bearer sk-of-the-service");
});

it("`azure` of a GatewayBackend is a resource of Azure by name", () => {
  const { programs, diagnostics } = checkManifests(`${modelsRoute(8080)}
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayBackend
metadata: {name: models}
spec: {ai: {provider: {azure: {resourceName: shop, resourceType: Foundry, projectName: chat, model: gpt-5}}}}
`);
  expect(diagnostics).toEqual([]);
  expect(JSON.stringify(programs)).toContain("https://shop.services.ai.azure.com");
});

/** The conditions of a model, and whether the others are served. */
function conditionsOf(name: string, ...documents: readonly string[]): readonly string[] {
  const checked = checkManifests([gatewayOf(8080), ...documents].join(""));
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.kubernetes).find(
    ({ metadata }) => metadata.name === name,
  );
  const { parents = [] } = (found?.status ?? {}) as {
    readonly parents?: readonly {
      readonly conditions: readonly { type: string; status: string; reason: string }[];
    }[];
  };
  return parents.flatMap(({ conditions }) =>
    conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  );
}

it.each([
  {
    what: "a model of a provider is accepted",
    spec: "  provider: OpenAI",
    said: ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
  },
  {
    what: "a virtual model whose target is missing has unresolved references",
    spec: "  virtualModel: {weighted: {targets: [{modelRef: {name: none}}]}}",
    said: ["Accepted=True Accepted", "ResolvedRefs=False Invalid"],
  },
  {
    what: "a model of a missing listener is not accepted",
    spec: "  provider: OpenAI",
    parent: "{name: gw, sectionName: other}",
    said: ["Accepted=False NoMatchingParent", "ResolvedRefs=True ResolvedRefs"],
  },
])("$what", ({ spec, parent, said }) => {
  expect(conditionsOf("m", model("m", spec, parent))).toEqual(said);
});

it("a listener that does not list GatewayModels takes none", () => {
  const plain = gatewayOf(8080).replace(/\n {4}allowedRoutes.*/, "");
  const checked = checkManifests(plain + model("m", "  provider: OpenAI"));
  expect(checked.diagnostics.map(({ code }) => code)).toContain("not-attached");
});

it("a model with a mistake is refused, and the other models of its listener are served", () => {
  const broken = model("broken", "  provider: OpenAI\n  policies: {auth: {secretRef: {name: no}}}");
  const text = gatewayOf(8080) + broken + model("good", "  provider: OpenAI");
  const options = { name: "test", isStrict: false, isIsolating: true };
  const { programs } = checkFiles(["a.yaml"], memoryHost({ "a.yaml": text }), options);
  const served = JSON.stringify(programs);
  expect(served).toContain("https://api.openai.com");
  expect(served).toContain("unresolved.invalid");
  expect(served).toContain('"served":["broken","good"]');
});
