import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { memoryHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";
import { gwc } from "../../harness/gwc.ts";
import { Workspace } from "../../harness/workspace.ts";

async function imported(text: string, ...argv: readonly string[]) {
  const workspace = new Workspace({ "config.yaml": text });
  const result = await gwc(["import", "config.yaml", ...argv], { cwd: workspace.folder });
  return { ...result, value: result.code === 2 ? undefined : parse(result.stdout) };
}

/** Returns the errors of `gwc check` for a file. */
function mistakes(text: string): readonly string[] {
  const host = memoryHost({ "gateway.yaml": text });
  const { findings } = checkInput(["gateway.yaml"], host, false);
  return findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

const litellm = `model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: https://europe.openai.azure.com/
      api_key: "os.environ/AZURE_KEY"
      api_version: "2024-10-21"
      rpm: 6
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: sk-live-secret, organization: org-1, temperature: 0.2, extra_headers: {x-key: k-live, x-team: a}}
    model_info: {mode: chat}
  - model_name: claude
    litellm_params: {model: claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY}
  - model_name: nova
    litellm_params: {model: bedrock/amazon.nova-pro-v1:0, aws_region_name: eu-west-1}
  - model_name: gem
    litellm_params: {model: vertex_ai/gemini-2.5-pro, vertex_project: p, vertex_location: us-central1}
  - model_name: fast
    litellm_params: {model: groq/llama-3.3-70b, api_key: os.environ/GROQ_API_KEY}
  - model_name: local
    litellm_params: {model: openai/llama3, api_base: "http://localhost:8000/v1"}
  - model_name: rerank
    litellm_params: {model: palm/rerank-v3}
litellm_settings:
  num_retries: 3
  request_timeout: 10
  fallbacks: [{gpt-4o: [rerank]}]
router_settings:
  routing_strategy: simple-shuffle
  model_group_alias: {gpt-4: gpt-4o}
  redis_password: hunter2
general_settings:
  master_key: sk-1234
`;

describe("gwc import of a LiteLLM proxy", () => {
  it("makes a configuration that check accepts: models, servers, keys, aliases, tries and time", async () => {
    const { code, stdout, value } = await imported(litellm);
    expect(code).toBe(1);
    expect(mistakes(stdout)).toEqual([]);
    const { models, policies } = value.llm;
    const azure = {
      model: "gpt-4o-eu",
      apiKey: "${AZURE_KEY}",
      azureHost: "europe.openai.azure.com",
      azureApiVersion: "2024-10-21",
    };
    const openai = { model: "gpt-4o", apiKey: "${GPT_4O_API_KEY}" };
    const more = {
      defaults: { temperature: 0.2 },
      requestHeaders: {
        set: {
          "x-key": "${GPT_4O_X_KEY_API_KEY}",
          "x-team": "a",
          "openai-organization": "org-1",
        },
      },
    };
    expect(models).toEqual([
      { name: "gpt-4o", provider: "azure", params: azure },
      { name: "gpt-4o", provider: "openai", params: openai, ...more },
      {
        name: "claude",
        provider: "anthropic",
        params: { model: "claude-sonnet-4-5", apiKey: "${ANTHROPIC_API_KEY}" },
      },
      {
        name: "nova",
        provider: "bedrock",
        params: { model: "amazon.nova-pro-v1:0", awsRegion: "eu-west-1" },
      },
      {
        name: "gem",
        provider: "vertex",
        params: { model: "gemini-2.5-pro", vertexProject: "p", vertexRegion: "us-central1" },
      },
      {
        name: "fast",
        provider: "groq",
        params: { model: "llama-3.3-70b", apiKey: "${GROQ_API_KEY}" },
      },
      {
        name: "local",
        provider: "openai",
        params: { model: "llama3", baseUrl: "http://localhost:8000/v1" },
      },
      { name: "gpt-4", provider: "azure", params: azure },
      { name: "gpt-4", provider: "openai", params: openai, ...more },
    ]);
    expect(policies).toEqual({
      apiKey: { keys: [{ key: "${LITELLM_MASTER_KEY}" }] },
      retry: { attempts: 3 },
      timeout: { requestTimeout: "10000ms" },
    });
  });

  it("names each line that has no counterpart, and writes no credential", async () => {
    const { stdout } = await imported(litellm);
    const left = stdout.split("\n").filter((line) => line.startsWith("#   line "));
    expect(left).toEqual([
      "#   line 8: model_list[0].litellm_params.rpm: 6",
      "#   line 11: model_list[1].model_info.mode: chat",
      "#   line 22: model_list[7].model_name: rerank",
      "#   line 23: model_list[7].litellm_params.model: palm/rerank-v3",
      "#   line 27: litellm_settings.fallbacks[0].gpt-4o[0]: rerank",
      "#   line 29: router_settings.routing_strategy: simple-shuffle",
      "#   line 31: router_settings.redis_password: (a credential)",
    ]);
    expect(stdout).toContain(
      "# DECIDE: line 10 has a literal key: put it into the variable GPT_4O",
    );
    expect(stdout).toContain('gwc has no provider for "palm/rerank-v3"');
    expect(stdout).not.toMatch(/sk-live-secret|sk-1234|hunter2|k-live/);
  });

  it("keeps limits of models, as parts of what a minute has", async () => {
    const { code, stdout, value } = await imported(`model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-5, tpm: 1000, rpm: 5}}
  - {model_name: a, litellm_params: {model: azure/gpt-5, api_base: "https://ann:pass@a.openai.azure.com", tpm: 2000, rpm: 5}}
  - {model_name: b, litellm_params: {model: openai/gpt-5-mini, tpm: 9000}}
`);
    expect(code).toBe(0);
    expect(mistakes(stdout)).toEqual([]);
    expect(value.llm.policies.localRateLimit).toEqual([
      {
        budget: 1,
        unit: "Minutes",
        key: "json(request.body).model",
        cost: 'json(request.body).model == "a" ? double(llm.totalTokens) / 3000.0 : json(request.body).model == "b" ? double(llm.totalTokens) / 9000.0 : 0.0',
      },
      {
        budget: 1,
        unit: "Minutes",
        key: "json(request.body).model",
        cost: 'json(request.body).model == "a" ? 1.0 / 10.0 : 0.0',
      },
    ]);
    expect(stdout).not.toMatch(/ann|pass@/);
    expect(stdout).toContain(
      "DECIDE: line 3: the user and password of the server's URL were removed",
    );
  });

  it("makes virtual models of those that fall back to others", async () => {
    const { code, stdout, value } = await imported(`model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-5, api_key: os.environ/A, tpm: 1000, temperature: 0.1}}
  - {model_name: b, litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: os.environ/B}}
  - {model_name: c, litellm_params: {model: ollama/llama3, api_base: os.environ/OLLAMA}}
router_settings: {fallbacks: [{a: [b, c]}], cooldown_time: 30, model_group_alias: {d: {model: c, hidden: true}}}
litellm_settings: {default_fallbacks: [b]}
general_settings: {master_key: os.environ/M}
`);
    expect(code).toBe(1);
    expect(mistakes(stdout)).toEqual([]);
    expect(stdout).toContain("router_settings.model_group_alias.d.hidden: true");
    const failover = (...models: readonly string[]) => ({
      failover: { targets: models.map((model, index) => ({ model, priority: index + 1 })) },
    });
    expect(value.llm.virtualModels).toEqual([
      { name: "a", routing: failover("a.own", "b", "c.own") },
      { name: "c", routing: failover("c.own", "b") },
      { name: "d", routing: failover("d.own", "b") },
    ]);
    const health = { eviction: { duration: "30000ms" } };
    const [a, b, c, d] = value.llm.models;
    expect(a).toEqual({
      name: "a.own",
      visibility: "internal",
      provider: "openai",
      params: { model: "gpt-5", apiKey: "${A}" },
      defaults: { temperature: 0.1 },
      health,
    });
    expect(b).toMatchObject({ name: "b", provider: "anthropic", health });
    expect(c.params).toEqual({ model: "llama3", baseUrl: "${OLLAMA}/v1" });
    expect(d).toEqual({ ...c, name: "d.own" });
    expect(value.llm.policies).toMatchObject({
      apiKey: { keys: [{ key: "${M}" }] },
      retry: { attempts: 2 },
      localRateLimit: [{ budget: 1, unit: "Minutes" }],
    });
  });

  it("keeps the cache of responses, and unsupported fields that are left out", async () => {
    const { stdout, value } = await imported(`model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-5, api_key: os.environ/A}}
litellm_settings: {drop_params: true, cache: true, cache_params: {type: redis, host: os.environ/H, ttl: 60}}
`);
    expect(mistakes(stdout)).toEqual([]);
    expect(value.llm.policies).toEqual({ ai: { cache: { ttl: "60s" }, unsupported: "drop" } });
    expect(stdout).toContain("#   line 3: litellm_settings.cache_params.host: os.environ/H");
    expect(stdout).toContain("DECIDE: responses are cached in the memory of each gateway");
  });

  it("says that nobody is kept out where there is no master key, and ends well when nothing is left out", async () => {
    const { code, stdout } = await imported(
      'model_list: [{model_name: "*", litellm_params: {model: "openai/*", api_key: os.environ/K}}]\n',
    );
    expect(code).toBe(0);
    expect(stdout).toContain(
      "DECIDE: there is no master_key: every client that reaches the port may use",
    );
    expect(mistakes(stdout)).toEqual([]);
  });
});

describe("gwc import of agentgateway", () => {
  const file = `binds:
  - port: 3000
    listeners:
      - routes:
          # the tools
          - name: tools
            policies: {cors: {allowOrigins: ["*"]}, oidc: {issuer: "https://a"}}
            backends: [{mcp: {targets: [{name: a, mcp: {host: "http://a:1/mcp"}, mystery: 5}]}}]
          - matches: [{path: {pathPrefix: /b}}]
            backends: [{host: "localhost:99"}]
`;

  it("keeps what gwc reads, tells what it takes out, and closes a route that loses who may", async () => {
    const { code, stdout, value } = await imported(file);
    expect(code).toBe(1);
    expect(mistakes(stdout)).toEqual([]);
    expect(stdout).toContain("# the tools");
    expect(stdout).toMatch(/DECIDE: removed, line 7: .*policies\.oidc: /);
    expect(stdout).toMatch(
      /DECIDE: removed, line 8: .*mystery: targets\[0\] has no field "mystery"/,
    );
    expect(stdout).toContain("routes[0] answers 503");
    const [tools, other] = value.routes;
    expect(tools.policies.directResponse.status).toBe(503);
    expect(tools.policies.cors).toEqual({ allowOrigins: ["*"] });
    expect(other).toEqual({
      matches: [{ path: { pathPrefix: "/b" } }],
      backends: [{ host: "localhost:99" }],
    });
  });

  it("rewrites binds as gateways and routes", async () => {
    const whole = file.replace(', oidc: {issuer: "https://a"}', "").replace(", mystery: 5", "");
    const { code, stdout } = await imported(whole);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `gateways:
  default:
    port: 3000
routes:
  # the tools
  - name: tools
    policies: { cors: { allowOrigins: [ "*" ] } }
    backends: [ { mcp: { targets: [ { name: a, mcp: { host: "http://a:1/mcp" } } ] } } ]
  - matches: [ { path: { pathPrefix: /b } } ]
    backends: [ { host: "localhost:99" } ]
`,
    });
    expect(await imported(stdout)).toMatchObject({ code: 0, stdout });
  });
});

it.each([
  ["a: [", /is not YAML/],
  ["model_list: []", /has no model that can be served/],
  ["hello: 1", /cannot be imported/],
])("gwc import says of %j that nothing can be made of it", async (text, problem) => {
  const { code, stderr } = await imported(text);
  expect(code).toBe(2);
  expect(stderr).toMatch(problem);
});

it("a deployment of Azure that falls back keeps its server", async () => {
  const { stdout } = await imported(`model_list:
  - model_name: gpt-4o
    litellm_params: {model: azure/gpt-4o-eu, api_base: "https://eu.openai.azure.com", api_version: "2024-10-21"}
  - model_name: local
    litellm_params: {model: ollama/llama3}
litellm_settings:
  fallbacks: [{gpt-4o: [local]}]
`);
  expect(stdout).toContain("eu.openai.azure.com");
  expect(stdout).not.toContain("DECIDE: removed");
});
