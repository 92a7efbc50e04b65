import { describe, expect, it } from "vitest";
import { imported, leftIn, mistakes } from "./imported.ts";

const kong = `_format_version: "3.0"
services:
  - name: shop
    url: https://shop.internal/v2
    retries: 2
    connect_timeout: 5000
    tags: [team-a]
    plugins:
      - {name: rate-limiting, config: {minute: 30, limit_by: ip, policy: local}}
    routes:
      - {name: shop-api, hosts: [shop.example.com], paths: [/api/], methods: [GET, POST]}
      - {name: shop-all, hosts: [shop.example.com], paths: [/], strip_path: false, preserve_host: true}
  - name: closed
    url: http://closed:80
    routes:
      - name: oidc
        paths: [/private]
        plugins: [{name: openid-connect, config: {client_secret: ["oidc-secret"]}}]
  - name: llm
    url: http://localhost:1
    routes:
      - name: chat
        paths: [~/chat$]
        plugins:
          - name: key-auth
            config: {key_names: [x-key]}
          - name: acl
            config: {allow: [staff]}
          - name: ai-proxy-advanced
            config:
              balancer: {algorithm: priority}
              targets:
                - {route_type: llm/v1/chat, weight: 1, auth: {header_name: x-api-key, header_value: sk-ant}, model: {provider: anthropic, name: claude-sonnet-4-5, options: {max_tokens: 512}}}
                - {route_type: llm/v1/chat, weight: 9, auth: {header_name: Authorization, header_value: Bearer sk-open}, model: {provider: openai, name: gpt-5}}
upstreams: []
consumers:
  - {username: ann, keyauth_credentials: [{key: ann-secret}], acls: [{group: staff}]}
plugins:
  - {name: prometheus, config: {}}
`;

describe("gwc import of Kong", () => {
  it("makes routes of services, and backends of AI proxies", async () => {
    const { code, stdout, value } = await imported({ "kong.yaml": kong });
    expect(code).toBe(1);
    expect(mistakes(stdout)).toEqual([]);
    const [{ port, listeners }] = value.binds;
    expect(port).toBe(8000);
    const [shop, rest] = listeners;
    expect(shop.hostname).toBe("shop.example.com");
    const [api] = shop.routes;
    expect(api.matches).toEqual([
      { path: { pathPrefix: "/api" }, method: "GET" },
      { path: { pathPrefix: "/api" }, method: "POST" },
    ]);
    expect(api.policies).toMatchObject({
      hostRewrite: { mode: "Auto" },
      urlRewrite: { path: { prefix: "/v2" } },
      retry: { attempts: 2 },
      localRateLimit: [{ requests: 30, unit: "Minutes", key: "source.address" }],
    });
    expect(api.backends).toEqual([
      {
        host: "shop.internal:443",
        policies: { backendTLS: {}, tcp: { connectTimeout: "5000ms" } },
      },
    ]);
    const chat = rest.routes.find(({ name }: { name: string }) => name.startsWith("chat"));
    expect(chat.matches).toEqual([{ path: { regex: "/chat" } }]);
    expect(chat.policies).toMatchObject({
      apiKey: {
        keys: [{ key: "${ANN_KEY}", metadata: { consumer: "ann", groups: ["staff"] } }],
        location: { header: { name: "x-key" } },
      },
      authorization: { rules: [{ require: '"staff" in apiKey.groups' }] },
      ai: { routes: { "*": "completions" } },
    });
    const [{ ai }] = chat.backends;
    expect(
      ai.groups.map(({ providers }: { providers: { name: string }[] }) =>
        providers.map(({ name }) => name),
      ),
    ).toEqual([["openai-2"], ["anthropic-1"]]);
    expect(ai.groups[1].providers[0]).toEqual({
      name: "anthropic-1",
      provider: { anthropic: { model: "claude-sonnet-4-5" } },
      policies: {
        backendAuth: { key: "${ANTHROPIC_CLAUDE_SONNET_4_5_API_KEY}" },
        ai: { overrides: { max_tokens: 512 } },
      },
    });
  });

  it("closes what a plugin that gwc lacks may keep to fewer, names the rest, and copies no secret", async () => {
    const { stdout, value } = await imported({ "kong.yaml": kong });
    expect(stdout).toMatch(/answers 503 until .*line 18: plugin openid-connect/);
    const routes = value.binds[0].listeners.flatMap(
      (each: { routes: { name: string }[] }) => each.routes,
    );
    for (const route of routes.filter(({ name }: { name: string }) => name.startsWith("oidc")))
      expect(route.policies.directResponse.status).toBe(503);
    expect(leftIn(stdout).join("\n")).toContain("line 7: services[0].tags[0]: team-a");
    expect(leftIn(stdout).join("\n")).toContain("plugins[0].name: prometheus");
    expect(stdout).not.toMatch(/sk-ant|sk-open|ann-secret|oidc-secret/);
  });
});
