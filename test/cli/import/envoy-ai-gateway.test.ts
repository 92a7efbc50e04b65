import { expect, it } from "vitest";
import { imported, leftIn, mistakes } from "./imported.ts";

const manifests = `apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIGatewayRoute
metadata: {name: models, namespace: default}
spec:
  parentRefs: [{name: gw, kind: Gateway, group: gateway.networking.k8s.io}]
  rules:
    - matches: [{headers: [{type: Exact, name: x-ai-eg-model, value: gpt-5}]}]
      backendRefs:
        - {name: openai, weight: 9}
        - {name: azure, priority: 1, modelNameOverride: gpt-5-eu}
    - matches: [{headers: [{name: x-ai-eg-model, value: claude}]}]
      backendRefs: [{name: bedrock, modelNameOverride: "anthropic.claude-sonnet-4-5-v1:0"}]
    - matches: [{headers: [{name: x-team, value: a}]}]
      backendRefs: [{name: openai}]
  llmRequestCosts: [{metadataKey: total, type: TotalToken}]
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIServiceBackend
metadata: {name: openai, namespace: default}
spec: {schema: {name: OpenAI}, backendRef: {name: openai, kind: Backend, group: gateway.envoyproxy.io}}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIServiceBackend
metadata: {name: azure, namespace: default}
spec: {schema: {name: AzureOpenAI, version: "2024-10-21"}, backendRef: {name: azure, kind: Backend}}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIServiceBackend
metadata: {name: bedrock, namespace: default}
spec: {schema: {name: AWSBedrock}, backendRef: {name: bedrock, kind: Backend}}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: BackendSecurityPolicy
metadata: {name: openai-key, namespace: default}
spec: {type: APIKey, apiKey: {secretRef: {name: openai-secret}}, targetRefs: [{name: openai, kind: AIServiceBackend, group: aigateway.envoyproxy.io}]}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: BackendSecurityPolicy
metadata: {name: azure-key, namespace: default}
spec: {type: AzureAPIKey, azureAPIKey: {secretRef: {name: azure-secret}}, targetRefs: [{name: azure}]}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: BackendSecurityPolicy
metadata: {name: aws, namespace: default}
spec: {type: AWSCredentials, awsCredentials: {region: eu-west-1, credentialsFile: {secretRef: {name: aws}}}, targetRefs: [{name: bedrock}]}
---
apiVersion: v1
kind: Secret
metadata: {name: openai-secret, namespace: default}
stringData: {apiKey: sk-live-secret}
`;

const servers = `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: openai, namespace: default}
spec: {endpoints: [{fqdn: {hostname: llm.example.com, port: 8443}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: default}
spec: {targetRefs: [{name: openai, kind: Backend, group: gateway.envoyproxy.io}], validation: {wellKnownCACertificates: System, hostname: llm.example.com}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: azure, namespace: default}
spec: {endpoints: [{fqdn: {hostname: eu.openai.azure.com, port: 443}}]}
`;

it("gwc import of Envoy AI Gateway makes models of its rules, and says what is not in them", async () => {
  const { code, stdout, value } = await imported({
    "routes.yaml": manifests,
    "servers.yaml": servers,
  });
  expect(code).toBe(1);
  expect(mistakes(stdout)).toEqual([]);
  expect(value.llm.models).toEqual([
    {
      name: "gpt-5",
      provider: "openAI",
      params: { hostOverride: "https://llm.example.com:8443", apiKey: "${OPENAI_API_KEY}" },
    },
    {
      name: "gpt-5",
      provider: "azure",
      params: {
        model: "gpt-5-eu",
        azureHost: "eu.openai.azure.com",
        azureApiVersion: "2024-10-21",
        apiKey: "${AZURE_API_KEY}",
      },
    },
    {
      name: "claude",
      provider: "bedrock",
      params: { model: "anthropic.claude-sonnet-4-5-v1:0", awsRegion: "eu-west-1" },
    },
  ]);
  expect(stdout).toMatch(
    /DECIDE: line 13: refused, because it matches by more than the model's name/,
  );
  expect(value.llm.policies).toEqual({
    authorization: { rules: [{ deny: 'default(request.headers["x-team"], "") == "a"' }] },
  });
  expect(stdout).toMatch(/DECIDE: line 7: entries with the same name share requests evenly/);
  expect(stdout).toMatch(/DECIDE: every client that reaches the port may use every model/);
  const left = leftIn(stdout).join("\n");
  expect(left).toContain("routes.yaml line 9: [0].spec.rules[0].backendRefs[0].weight: 9");
  expect(left).toContain("[0].spec.llmRequestCosts[0].type: TotalToken");
  expect(left).toContain("[7].stringData.apiKey: (a credential)");
  expect(stdout).not.toContain("sk-live-secret");
});

it("requests of a rule that can't be read, or has no server here, are not served by one for every model", async () => {
  const every = `    - backendRefs: [{name: openai}]\n  llmRequestCosts`;
  const of = (rule: string) =>
    imported({
      "routes.yaml": manifests
        .replace("  llmRequestCosts", every)
        .replace("matches: [{headers: [{name: x-team, value: a}]}]", rule),
      "servers.yaml": servers,
    });
  const model = `{type: RegularExpression, name: x-ai-eg-model, value: "o[1-3]"}`;
  const pattern = await of(`matches: [{headers: [${model}, {name: x-team, value: a}]}]`);
  expect(mistakes(pattern.stdout)).toEqual([]);
  expect(pattern.value.llm.policies.authorization.rules).toEqual([
    {
      deny: 'default(json(request.body).model, "").matches("^(?:o[1-3])$") && default(request.headers["x-team"], "") == "a"',
    },
  ]);
  const unknown = await of("matches: [{path: {value: /v1/embeddings}}]");
  expect(unknown.value.llm.policies.directResponse.status).toBe(503);
  const { value } = await imported({
    "routes.yaml": manifests.replace(
      "backendRefs: [{name: bedrock,",
      "backendRefs: [{name: other,",
    ),
    "servers.yaml": servers,
  });
  expect(value.llm.policies.authorization.rules).toContainEqual({
    deny: 'default(json(request.body).model, "") == "claude"',
  });
});
