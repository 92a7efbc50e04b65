import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";
import { modelsRoute } from "./models-route.ts";

const ofBackend = (name: string) => `{group: gwc.dev, kind: GatewayBackend, name: ${name}}`;

describe("what a backend of manifests shows to Azure", () => {
  let upstream: Scripted;
  let entra: Scripted;
  let machine: Scripted;
  let gateway: Gateway;
  const token = (text: string) => JSON.stringify({ access_token: text, expires_in: "3600" });

  beforeAll(async () => {
    upstream = await startScripted((response) => response.end("ok"));
    entra = await startScripted((response) => response.end(token("of-application")));
    machine = await startScripted((response) => response.end(token("of-machine")));
    const port = upstream.host.split(":")[1];
    const backend = (name: string, azure: string) => `
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: 127.0.0.1, port: ${port}}, policies: {auth: {azure: ${azure}}}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /${name}}}], backendRefs: [${ofBackend(name)}]}]}}`;
    const folder = temporaryFolder({
      "app/tenantId": "tenant\n",
      "app/clientId": "app",
      "app/clientSecret": "s3cret",
    });
    gateway = await startGateway({
      config: `${gatewayManifest(await freePort())}
{apiVersion: v1, kind: Secret, metadata: {name: app}, data: {tenantId: "", clientId: "", clientSecret: ""}}${backend(
        "application",
        "{secretRef: {name: app}, scope: https://a.test/.default}",
      )}${backend("machine", "{managedIdentity: {clientId: one, objectId: two, resourceId: three}}")}${backend("system", "{managedIdentity: {}}")}`,
      env: {
        GWC_SECRETS_DIR: folder,
        AZURE_AUTHORITY_HOST: `http://${entra.host}`,
        AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${machine.host}`,
      },
    });
  });

  it("is the token of an application, for the Secret that it names", async () => {
    expect((await send(`${gateway.url}/application`, "GET")).status).toBe(200);
    expect(upstream.received.at(-1)?.headers.authorization).toBe("Bearer of-application");
    expect(entra.received.map(({ url }) => url)).toEqual(["/tenant/oauth2/v2.0/token"]);
    const form = new URLSearchParams(entra.received[0]?.body.toString("utf8"));
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: "s3cret",
      scope: "https://a.test/.default",
    });
    expect(gateway.output).not.toMatch(/s3cret|of-application/);
  });

  it("is the token of an identity of the machine, which is asked for by one of its ids", async () => {
    expect((await send(`${gateway.url}/machine`, "GET")).status).toBe(200);
    expect(upstream.received.at(-1)?.headers.authorization).toBe("Bearer of-machine");
    const asked = new URL(machine.received[0]?.url ?? "", "http://host");
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      "api-version": "2018-02-01",
      resource: "https://cognitiveservices.azure.com",
      client_id: "one",
    });
  });

  it("is the token of the system's identity without an id", async () => {
    expect((await send(`${gateway.url}/system`, "GET")).status).toBe(200);
    const asked = new URL(machine.received.at(-1)?.url ?? "", "http://host");
    expect([...asked.searchParams.keys()]).toEqual(["api-version", "resource"]);
  });

  it("needs a Secret with the keys of an application", () => {
    const said = complaints(
      checkManifests(
        `${gatewayManifest(80)}
{apiVersion: v1, kind: Secret, metadata: {name: app}, data: {tenantId: ""}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: a.test, port: 80}, policies: {auth: {azure: {secretRef: {name: app}}}}}}`,
      ),
    );
    expect(said.join()).toContain("clientId");
    expect(said.join()).toContain("clientSecret");
  });
});

/** The guards of the only provider, without where they are written. */
function guardsOf(files: Readonly<Record<string, string>>): unknown {
  const checked = checkManifests(files);
  const nodes = checked.program?.binds[0]?.listeners[0]?.routes[0]?.backends;
  const guards: unknown[] = [];
  JSON.stringify(nodes, (key, value) => {
    if (key === "promptGuard" || key === "guard") guards.push(value);
    return key === "origin" || key.endsWith("Origin") ? undefined : value;
  });
  const plain = JSON.stringify(guards, (key, value) =>
    key === "origin" || key.endsWith("Origin") ? undefined : value,
  );
  return [complaints(checked).map((each) => each.replace(/^\d+ /, "")), JSON.parse(plain)];
}

it("guards of Amazon, Google and Azure are in manifests what they are in a file, and so is whom they ask when", () => {
  const safety = {
    endpoint: "texts.cognitiveservices.azure.com",
    analyzeText: { severityThreshold: 2, blocklistNames: ["words"], haltOnBlocklistHit: true },
  };
  const jailbreaks = {
    endpoint: "http://127.0.0.1:1",
    detectJailbreak: { apiVersion: "2024-09-15" },
  };
  const armor = { templateId: "shield", projectId: "shop-1" };
  const armorPolicies = { gcp: {} };
  const file = {
    binds: [
      {
        port: 80,
        listeners: [
          {
            routes: [
              {
                backends: [
                  {
                    ai: {
                      name: "a",
                      provider: { openAI: {} },
                      policies: {
                        ai: {
                          promptGuard: {
                            streaming: "Disabled",
                            request: [
                              {
                                azureContentSafety: { ...jailbreaks, failureMode: "failOpen" },
                                scope: ["messages", "toolOutput"],
                              },
                              {
                                bedrockGuardrails: {
                                  guardrailIdentifier: "abcdefghij",
                                  guardrailVersion: "DRAFT",
                                  region: "us-west-2",
                                },
                                response: { statusCode: 422 },
                              },
                              { googleModelArmor: { ...armor, failureMode: "failOpen" } },
                            ],
                            response: [
                              { azureContentSafety: safety, response: { statusCode: 451 } },
                              {
                                googleModelArmor: {
                                  ...armor,
                                  location: "europe-west4",
                                  policies: { backendAuth: armorPolicies },
                                },
                              },
                            ],
                          },
                        },
                      },
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  const manifests = `${modelsRoute(80)}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: models}, spec: {ai: {provider: {openai: {}}}, policies: {ai: {promptGuard: {
  streaming: Disabled,
  request: [
    {azureContentSafety: ${JSON.stringify({ ...jailbreaks, failureMode: "FailOpen" })}, scope: [Messages, ToolOutput]},
    {bedrockGuardrails: {identifier: abcdefghij, version: DRAFT, region: us-west-2}, response: {statusCode: 422}},
    {googleModelArmor: {templateId: shield, projectId: shop-1, failureMode: FailOpen}}],
  response: [{azureContentSafety: ${JSON.stringify(safety)}, response: {statusCode: 451}}, {googleModelArmor: {templateId: shield, projectId: shop-1, location: europe-west4, policies: {auth: {gcp: {}}}}}]}}}}}`;
  const inManifests = guardsOf({ "manifests.yaml": manifests });
  expect(inManifests).toEqual(guardsOf({ "gateway.yaml": JSON.stringify(file) }));
  expect(JSON.stringify(inManifests)).toContain("abcdefghij");
});
