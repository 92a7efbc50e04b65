import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { modelsRoute } from "./models-route.ts";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-5-mini",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

function manifests(port: number, host: string): string {
  const [name, serverPort] = host.split(":");
  return `${modelsRoute(port)}apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec:
  ai:
    groups:
    - providers:
      - name: local
        llmProvider1: {}
        host: ${name}
        port: ${serverPort}
        policies: {auth: {secretRef: {name: key}}}
  policies:
    ai:
      modelAliases: {fast: gpt-5-mini}
      defaults: [{field: temperature, value: 0.5}, {field: seed, value: 7, override: true}]
      prompt: {prepend: [{role: SYSTEM, content: Be brief.}]}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: provider}
spec:
  targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: models, sectionName: local}]
  backend:
    ai:
      overrides: [{field: max_completion_tokens, value: 50}]
      transformations: [{field: user, expression: 'string(llmRequest.max_completion_tokens)'}]
      finalTransformations: [{field: store, expression: 'llmRequest.user == "50"'}]
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {Authorization: unused}
`;
}

it("a GatewayBackend of models serves them as the policies on it and on its provider say", async () => {
  const provider = await startScripted((response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(completion));
  });
  const folder = temporaryFolder();
  mkdirSync(join(folder, "secrets", "key"), { recursive: true });
  writeFileSync(join(folder, "secrets", "key", "Authorization"), "sk-of-the-gateway\n");
  const { url } = await startGateway({
    folder,
    env: { GWC_SECRETS_DIR: join(folder, "secrets") },
    config: manifests(await freePort(), provider.host),
  });
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0 });
  const { data, response } = await client.chat.completions
    .create({ model: "fast", seed: 1, messages: [{ role: "user", content: "Hello" }] })
    .withResponse();
  expect(data).toEqual(completion);
  expect(response.headers.get("x-llm-provider")).toBe("local");
  const [received] = provider.received;
  expect(received?.url).toBe("/v1/chat/completions");
  expect(received?.headers.authorization).toBe("Bearer sk-of-the-gateway");
  expect(JSON.parse(String(received?.body))).toEqual({
    model: "gpt-5-mini",
    seed: 7,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    max_completion_tokens: 50,
    user: "50",
    store: true,
    temperature: 0.5,
  });
});
