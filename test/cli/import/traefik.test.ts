import { describe, expect, it } from "vitest";
import { imported, leftIn, mistakes } from "./imported.ts";

const dynamic = `http:
  routers:
    api:
      rule: Host(\`example.com\`) && PathPrefix(\`/api/\`)
      entryPoints: [websecure]
      service: api
      middlewares: [cut, office, guard]
      tls: {}
    site:
      rule: Host(\`example.com\`) || Host(\`www.example.com\`)
      entryPoints: [websecure]
      service: both@file
      priority: 20
      middlewares: [sts]
      tls: {certResolver: le}
    late:
      rule: Host(\`example.com\`) && Path(\`/api/late\`)
      entryPoints: [websecure]
      priority: 1
      service: api
      tls: {}
  middlewares:
    cut: {stripPrefix: {prefixes: [/api]}}
    office: {ipAllowList: {sourceRange: [10.0.0.0/8, 127.0.0.1]}}
    guard: {basicAuth: {users: ["ann:$2y$05$abcdefghijklmnopqrstuv"], realm: Team}}
    sts: {headers: {stsSeconds: 60, customRequestHeaders: {X-Team: a, X-Old: ""}, accessControlAllowOriginList: ["https://a.example"]}}
  services:
    api: {loadBalancer: {servers: [{url: "http://10.0.0.1:8080"}, {url: "http://10.0.0.2:8080"}], healthCheck: {path: /ok}}}
    canary: {loadBalancer: {servers: [{url: "http://canary"}], passHostHeader: false}}
    both: {weighted: {services: [{name: api, weight: 3}, {name: canary, weight: 1}]}}
tls:
  certificates: [{certFile: /c/a.crt, keyFile: /c/a.key}]
`;

const fixed = `entryPoints:
  web: {address: ":80", http: {redirections: {entryPoint: {to: websecure}}}}
  websecure: {address: ":8443", http: {tls: {}}}
providers: {file: {filename: dynamic.yaml}}
`;

describe("gwc import of Traefik", () => {
  it("makes routes of routers, by their rules, priorities, middlewares and services", async () => {
    const { code, stdout, value } = await imported({
      "dynamic.yaml": dynamic,
      "traefik.yaml": fixed,
    });
    expect(code).toBe(1);
    expect(mistakes(stdout)).toEqual([]);
    const [web, secure] = value.binds;
    expect(web.listeners[0].routes[0].policies.requestRedirect).toEqual({
      scheme: "https",
      authority: { port: 8443 },
      status: 301,
    });
    expect(secure.port).toBe(8443);
    const [example, www] = secure.listeners;
    expect(example).toMatchObject({
      hostname: "example.com",
      tls: { cert: "/c/a.crt", key: "/c/a.key" },
    });
    expect(www.hostname).toBe("www.example.com");
    const [api, all] = example.routes;
    expect(api.matches).toEqual([{ path: { pathPrefix: "/api" } }]);
    expect(api.backends).toEqual([{ host: "10.0.0.1:8080" }, { host: "10.0.0.2:8080" }]);
    expect(api.policies).toMatchObject({
      hostRewrite: { mode: "None" },
      urlRewrite: { path: { prefix: "/" } },
      authorization: {
        rules: [
          {
            require:
              'cidr("10.0.0.0/8").containsIP(source.address) || cidr("127.0.0.1/32").containsIP(source.address)',
          },
        ],
      },
      basicAuth: { realm: "Team", htpasswd: "${GUARD_USERS}" },
    });
    expect(all.policies.cors).toEqual({ allowOrigins: ["https://a.example"] });
    expect(all.policies.requestHeaderModifier).toEqual({
      set: { "X-Team": "a" },
      remove: ["X-Old"],
    });
    expect(all.backends.map(({ weight }: { weight: number }) => weight)).toEqual([3, 3, 2]);
    // Traefik asks it after the others, so none gets there.
    expect(stdout).not.toContain("/api/late");
    expect(all.matches).toEqual([{ path: { exact: "/api" } }]);
  });

  it("names each line that has no counterpart, and copies no hash", async () => {
    const { stdout, stderr } = await imported({ "dynamic.yaml": dynamic, "traefik.yaml": fixed });
    expect(leftIn(stdout)).toEqual([
      "#   dynamic.yaml line 26: http.middlewares.sts.headers.stsSeconds: 60",
      "#   dynamic.yaml line 28: http.services.api.loadBalancer.healthCheck.path: /ok",
      "#   traefik.yaml line 4: providers.file.filename: dynamic.yaml",
    ]);
    expect(stderr).toContain("note: skipped 3 parts of dynamic.yaml, traefik.yaml");
    expect(stdout).not.toContain("$2y$");
  });

  it.each([
    ["rule: ClientIP(`10.0.0.0/8`)", "gwc has no counterpart for ClientIP"],
    ["rule: '!PathPrefix(`/a`)'", "gwc has no counterpart for !"],
    ["{rule: PathPrefix(`/`), middlewares: [auth]}", "middleware auth (forwardAuth)"],
    ["{rule: PathPrefix(`/`), middlewares: [gone]}", "the file has no middleware gone"],
  ])("closes what %s keeps to fewer requests", async (router, reason) => {
    const text = `http:\n  routers: {a: ${router.startsWith("{") ? router.replace("{", "{service: s, ") : `{${router}, service: s}`}}
  middlewares: {auth: {forwardAuth: {address: "http://auth"}}}
  services: {s: {loadBalancer: {servers: [{url: "http://a:1"}]}}}\n`;
    const { stdout, value } = await imported({ "dynamic.yaml": text });
    expect(mistakes(stdout)).toEqual([]);
    expect(stdout).toContain(reason);
    for (const { listeners } of value.binds)
      for (const { routes } of listeners)
        for (const { policies } of routes) expect(policies.directResponse.status).toBe(503);
  });
});
