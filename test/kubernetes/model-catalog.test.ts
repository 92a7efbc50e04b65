import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startHealthy } from "../llm/llm-upstream.ts";
import { gatewayManifest } from "./gateway-manifest.ts";

const catalog = JSON.stringify({
  providers: { openai: { models: { "gpt-5": { rates: { input: 1, output: 100 } } } } },
});

it("prices of models come from a ConfigMap that the parameters of the Gateway name", async () => {
  const provider = await startHealthy();
  const [host, port] = provider.host.split(":");
  const own = await freePort();
  const gateway = await startGateway({
    config: `${gatewayManifest(own).replace(
      "spec: {",
      "spec: {infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: ours}}, ",
    )}apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: ours}
spec: {modelCatalog: {sources: [{configMap: {name: prices, key: ours.json}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prices}
data: {ours.json: '${catalog}'}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: chat}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: models}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec:
  ai: {provider: {openai: {model: gpt-5}, host: "${host}", port: ${port}}}
`,
  });
  const body = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] });
  const headers = { "content-type": "application/json" };
  const { status } = await send(`${gateway.url}/v1/chat/completions`, "POST", headers, body);
  expect(status).toBe(200);
  // 20 prompt tokens and 5 of the completion, in dollars for a million.
  await gateway.seen(/gen_ai\.cost=0\.00052 /);
});
