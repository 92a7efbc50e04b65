import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./compare.ts";
import { EMPTY_POLICY } from "./custom-policies.ts";
import { makeIdentities } from "./identities.ts";

/** A GET with further headers, ready for the wire. */
export function get(target: string, headers: readonly string[] = []): string {
  return head("GET", target, headers);
}

/** A request without a body. */
function head(method: string, target: string, headers: readonly string[]): string {
  const common = ["Host: api.example.com", "Accept: */*", "User-Agent: load"];
  return `${[`${method} ${target} HTTP/1.1`, ...common, ...headers].join("\r\n")}\r\n\r\n`;
}

/**
 * A plain proxy, the same measured once more (the noise), and each policy on top of it, asked so that the request goes
 * through. `folder` gets the files that policies name; `host` is the upstream's `host:port`, `callouts` that of a server
 * that is called over gRPC.
 */
export async function policyCases(
  folder: string,
  host: string,
  callouts: string,
): Promise<readonly Case[]> {
  const { jwks, tokens } = await makeIdentities(1);
  const keys = join(folder, "jwks.json");
  const users = join(folder, "htpasswd");
  writeFileSync(keys, jwks);
  // pass-bcrypt, made by crypt(3).
  writeFileSync(users, "bcrypt:$2y$08$abcdefghijklmnopqrstuujpJdAP1Y8i/tKjKxHlJ.5s7zIwlMlL6\n");
  const issuer = { issuer: "https://idp.example.com", audiences: ["bench"] };
  const jwtAuth = { mode: "strict", ...issuer, jwks: { file: keys } };
  const keyHash = `sha256:${createHash("sha256").update("bench").digest("hex")}`;
  const bearer = `Authorization: Bearer ${tokens[0]}`;
  const login = `Authorization: Basic ${btoa("bcrypt:pass-bcrypt")}`;
  const origin = "Origin: https://app.example.com";
  const limit = { maxTokens: 1e9, tokensPerFill: 1e9, fillInterval: "1s" };
  const one = (name: string, policies: object, request = get("/items/1?q=x")): Case => ({
    name,
    routes: [{ name: "api", policies, backends: [{ host }] }],
    requests: [request],
  });
  const alone = (name: string, policies: object): Case => ({
    ...one(name, policies),
    routes: [{ name: "api", policies }],
  });
  const traced = (
    name: string,
    randomSampling: boolean | number,
    collector: object = { host, protocol: "http" },
  ): Case => ({
    ...one(name, {}),
    file: { frontendPolicies: { tracing: { ...collector, randomSampling } } },
  });
  const empty = join(folder, "policies");
  mkdirSync(empty, { recursive: true });
  const hooks = ["a", "b", "c"].map((name) => {
    writeFileSync(join(empty, `${name}.ts`), EMPTY_POLICY);
    return { use: `./policies/${name}.ts` };
  });
  const asked = (...headers: readonly string[]) => get("/items/1?q=x", headers);
  return [
    one("plain", {}),
    { ...one("plain again", {}), gateway: "plain" },
    one("cors", { cors: { allowOrigins: ["https://app.example.com"] } }, asked(origin)),
    one("jwtAuth", { jwtAuth }, asked(bearer)),
    one("basicAuth (bcrypt)", { basicAuth: { htpasswd: { file: users } } }, asked(login)),
    one("apiKey", { apiKey: { keys: [{ keyHash }] } }, asked("Authorization: Bearer bench")),
    one("authorization", { authorization: { rules: ['request.path.startsWith("/items/")'] } }),
    one("csrf", { csrf: {} }, head("POST", "/items", [...sameOrigin, "Content-Length: 0"])),
    one("localRateLimit", { localRateLimit: [limit] }),
    one("localRateLimit (key)", { localRateLimit: [{ ...limit, key: "source.address" }] }),
    one("requestHeaderModifier", {
      requestHeaderModifier: { set: { "x-a": "1" }, remove: ["x-b"] },
    }),
    one("responseHeaderModifier", { responseHeaderModifier: { set: { "x-a": "1" } } }),
    one("transformations", {
      transformations: {
        request: { set: { "x-path": "request.path" } },
        response: { set: { "x-code": "string(response.code)" } },
      },
    }),
    one("hostRewrite", { hostRewrite: { mode: "Auto" } }),
    one("urlRewrite", {
      urlRewrite: { path: { prefix: "/v2" }, authority: { full: "new.example" } },
    }),
    one("timeout", { timeout: { requestTimeout: "10s" } }),
    one("retry", { retry: { attempts: 2, codes: [503] } }),
    one("requestMirror (all)", { requestMirror: { backend: { host } } }),
    one("requestMirror (1 %)", { requestMirror: { backend: { host }, percentage: 0.01 } }),
    traced("tracing (all)", true),
    traced("tracing (all, gRPC)", true, { host: callouts }),
    // Code that only traced requests run is optimized after as many of them as elsewhere.
    { ...traced("tracing (1 %)", 0.01), warmUp: 200_000 },
    traced("tracing (none)", 0),
    one("extAuthz (gRPC)", { extAuthz: { host: callouts } }),
    one("extAuthz (gRPC, kept verdict)", {
      extAuthz: { host: callouts, cache: { key: ["request.path"], ttl: "1h" } },
    }),
    one("extAuthz (HTTP)", { extAuthz: { host, protocol: { http: {} } } }),
    one("remoteRateLimit", {
      remoteRateLimit: {
        host: callouts,
        domain: "bench",
        descriptors: [{ entries: [{ key: "path", value: "request.path" }] }],
      },
    }),
    one("extProc (heads)", {
      extProc: {
        host: callouts,
        processingOptions: { requestBodyMode: "none", responseBodyMode: "none" },
      },
    }),
    { ...one("custom (empty)", { custom: hooks.slice(0, 1) }), folder },
    { ...one("custom (three empty)", { custom: hooks }), folder },
    alone("directResponse", { directResponse: { status: 200, body: "x".repeat(128) } }),
    alone("requestRedirect", { requestRedirect: { scheme: "https" } }),
  ];
}

const sameOrigin = ["Origin: http://api.example.com", "Sec-Fetch-Site: same-origin"];
