import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { converted } from "./vanished.ts";

/** Policies of the `llm` section of an imported file. */
function llmPolicies(file: string, text: string): unknown {
  return parse(converted(file, text)).llm.policies;
}

const REFUSED = { authorization: { rules: [{ deny: "true" }] } };

describe("LiteLLM", () => {
  const read = (general: string) =>
    llmPolicies(
      "litellm.yaml",
      `model_list:\n  - {model_name: a, litellm_params: {model: openai/a}}\ngeneral_settings:\n${general}`,
    );
  const jwt = (url: string, more = "audience: gw, ") =>
    `  enable_jwt_auth: true\n  litellm_jwtauth: {${more}issuer: "https://a.test", public_key_url: "${url}"}\n`;

  it("tokens of one issuer are required", () => {
    expect(read(jwt("https://a.test/keys"))).toEqual({
      jwtAuth: {
        issuer: "https://a.test",
        audiences: ["gw"],
        jwks: { url: "https://a.test/keys" },
      },
    });
  });

  it.each([
    ["keys in a discovery document", jwt("https://a.test/.well-known/openid-configuration")],
    ["no audience", jwt("https://a.test/keys", "")],
    ["a check in Python", "  custom_auth: checks.caller\n"],
  ])("everybody is refused with %s", (_, general) => {
    expect(read(general)).toEqual(REFUSED);
  });
});

describe("Envoy AI Gateway", () => {
  const policy = (spec: string) => `apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIGatewayRoute
metadata: {name: r}
spec: {rules: [{matches: [{headers: [{name: x-ai-eg-model, value: a}]}], backendRefs: [{name: b}]}]}
---
apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: AIServiceBackend
metadata: {name: b}
spec: {schema: {name: OpenAI}, backendRef: {name: b, kind: Backend}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: b}
spec: {endpoints: [{fqdn: {hostname: api.openai.com, port: 443}}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: s}
spec: {${spec}}
`;
  const provider =
    "{name: p, issuer: 'https://a.test', audiences: [gw], remoteJWKS: {uri: 'https://a.test/keys'}}";

  it("the tokens of a SecurityPolicy are required", () => {
    expect(llmPolicies("envoy.yaml", policy(`jwt: {providers: [${provider}]}`))).toEqual({
      jwtAuth: {
        issuer: "https://a.test",
        audiences: ["gw"],
        jwks: { url: "https://a.test/keys" },
      },
    });
  });

  it.each([
    "apiKeyAuth: {extractFrom: [{headers: [x-key]}]}",
    "basicAuth: {users: {name: x}}",
    `jwt: {providers: [${provider}]}, authorization: {defaultAction: Deny}`,
  ])("everybody is refused with %s", (spec) => {
    expect(llmPolicies("envoy.yaml", policy(spec))).toEqual(REFUSED);
  });
});

describe("Caddy", () => {
  it("a directive of a module closes its site", () => {
    const text = "a.test {\n\tauthorize with staff\n\treverse_proxy 10.0.0.1:80\n}\n";
    expect(converted("Caddyfile", text)).toContain("line 2: authorize");
    expect(converted("Caddyfile", text)).toContain("status: 503");
    expect(converted("Caddyfile", text)).not.toContain("host: 10.0.0.1:80\n");
  });

  it("the name of a cookie is shown, and its secret is not", () => {
    const policy = (words: string) =>
      converted(
        "Caddyfile",
        `a.test {\n\treverse_proxy 10.0.0.1:80 {\n\t\tlb_policy cookie ${words}\n\t}\n}\n`,
      );
    expect(policy("lb")).toContain("line 3: lb_policy cookie lb\n");
    expect(policy("lb hunter22")).not.toContain("hunter22");
  });

  it("a snippet has the block of its import", () => {
    const text =
      "(headers) {\n\theader {\n\t\t{block}\n\t}\n}\na.test {\n\timport headers {\n\t\tX-One 1\n\t}\n}\n";
    expect(converted("Caddyfile", text)).toContain('X-One: "1"');
  });
});

it.each([
  ["log_format basic '$remote_addr';", "log_format basic"],
  ["access_log /var/log/a.log basic;", "access_log /var/log/a.log basic"],
])("a format is shown that is named like a credential: %s", (directive, shown) => {
  const text = `${directive}\nserver { listen 8080; location / { proxy_pass http://10.0.0.1; } }\n`;
  expect(converted("a.conf", text)).toContain(`line 1: ${shown}`);
});
