import OpenAI from "openai";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startGuardWebhook } from "../harness/guard-webhook.ts";
import { startProvider } from "../harness/model-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { modelsRoute } from "../kubernetes/models-route.ts";
import { long, replies } from "./server-guards.ts";

it("a Service's webhook guards what manifests say", async () => {
  const [webhook, provider] = await Promise.all([startGuardWebhook(), startProvider(replies)]);
  const [name, port] = webhook.url.slice("http://".length).split(":");
  const { url } = await startGateway({
    config: `${modelsRoute(await freePort())}apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec:
  ai: {provider: {llmProvider1: {}, host: 127.0.0.1, port: ${provider.host.split(":")[1]}}}
  policies:
    auth: {secretRef: {name: key}}
    ai:
      promptGuard:
        request:
          - webhook:
              backendRef: {group: gwc.dev, kind: GatewayBackend, name: hook}
              forwardHeaderMatches: [{name: X-Tenant, value: manifests}]
        response: [{webhook: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: hook}}}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: hook}
spec: {static: {host: ${name}, port: ${port}}}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {Authorization: hidden}
`,
    env: { GWC_SECRETS_DIR: temporaryFolder({ "key/Authorization": "provider-key" }) },
  });
  const own = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
  const headers = { "x-tenant": "manifests" };
  const messages = [{ role: "user" as const, content: "A long secret1." }];
  const whole = await own.chat.completions.create({ model: "m", messages }, { headers });
  expect(provider.received.at(-1)?.body.toString()).toContain("A long [hidden].");
  expect(whole.choices[0]?.message.content).toBe(long.replace("secret7", "[hidden]"));
  expect(
    webhook.seen().at(-1)?.headers["x-tenant"] ?? webhook.seen().at(-1)?.headers["X-Tenant"],
  ).toBe(undefined);
});
