import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayWith } from "./manifests.ts";

let [plain, secure] = [0, 0];

/** A server that shows what reached it. */
async function startUpstream(name: string): Promise<number> {
  return listen(
    createServer(({ url, headers }, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ name, url, headers }));
    }),
  );
}

beforeAll(async () => {
  const [one, two] = [await startUpstream("one"), await startUpstream("two")];
  [plain, secure] = [await freePort(), await freePort()];
  await startGateway({
    config: manifests(one, two),
    env: { GWC_SECRETS_DIR: secretsIn(temporaryFolder()) },
  });
});

/** The Secrets as a pod mounts them: a folder each, a file for each key. */
function secretsIn(folder: string): string {
  const secrets = path.join(folder, "secrets");
  for (const name of ["cert", "keys"]) mkdirSync(path.join(secrets, name), { recursive: true });
  const certs = path.join(root, "examples/tls/certs");
  cpSync(path.join(certs, "localhost.crt"), path.join(secrets, "cert/tls.crt"));
  cpSync(path.join(certs, "localhost.key"), path.join(secrets, "cert/tls.key"));
  writeFileSync(path.join(secrets, "keys/alice"), "alices-key");
  writeFileSync(
    path.join(secrets, "keys/bob"),
    JSON.stringify({ key: "bobs-key", metadata: { team: "b" } }),
  );
  return secrets;
}

function manifests(one: number, two: number): string {
  const policy = (name: string, rule: string, traffic: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionName: ${rule}}], traffic: {${traffic}}}}`;
  const preRouting = (name: string, traffic: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: plain}], traffic: {phase: PreRouting, ${traffic}}}}`;
  const backend = (name: string, port: number) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: 127.0.0.1, port: ${port}}}}`;
  return [
    gatewayWith(
      `{name: plain, port: ${plain}, protocol: HTTP}`,
      `{name: secure, port: ${secure}, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}`,
    ),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: gw}]
  rules:
    - name: shared
      matches: [{path: {value: /shared}}]
      filters:
        - {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}
        - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-team, value: a}]}}
        - {type: ResponseHeaderModifier, responseHeaderModifier: {add: [{name: x-by, value: gw}]}}
      backendRefs:
        - {group: gwc.dev, kind: GatewayBackend, name: one, weight: 3}
        - {group: gwc.dev, kind: GatewayBackend, name: two, weight: 1}
    - name: moved
      matches: [{path: {value: /moved}}]
      filters: [{type: RequestRedirect, requestRedirect: {hostname: new.example.com, statusCode: 301}}]
    - name: empty
      matches: [{path: {value: /shared/empty}}]
    - name: keyed
      matches: [{path: {value: /keyed}}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]
    - name: closed
      matches: [{path: {value: /closed}}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]
    - name: changed
      matches: [{path: {value: /changed}}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]
    - name: gold
      matches: [{path: {value: /tier}, headers: [{name: x-tier, value: gold}]}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]
    - name: limited
      matches: [{path: {value: /limited}}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: one}]`,
    "{apiVersion: v1, kind: Secret, metadata: {name: cert}, data: {tls.crt: '', tls.key: ''}}",
    "{apiVersion: v1, kind: Secret, metadata: {name: keys, labels: {use: keys}}, data: {alice: '', bob: ''}}",
    backend("one", one),
    backend("two", two),
    policy("keys", "keyed", "apiKeyAuthentication: {secretSelector: {matchLabels: {use: keys}}}"),
    policy(
      "team",
      "keyed",
      "authorization: {policy: {matchExpressions: ['apiKey.team == \"b\"']}}",
    ),
    policy("closed", "closed", "directResponse: {status: 503, body: closed}"),
    policy(
      "changed",
      "changed",
      "transformation: {request: {set: [{name: x-method, value: request.method}]}, response: {set: [{name: x-code, value: string(response.code)}]}}",
    ),
    preRouting("keys-early", "apiKeyAuthentication: {mode: Optional, secretRef: {name: keys}}"),
    preRouting(
      "tier",
      'transformation: {request: {set: [{name: x-tier, value: \'apiKey.team == "b" ? "gold" : "basic"\'}]}}',
    ),
    policy("limit", "limited", "rateLimit: {local: [{requests: 2, unit: Hours}]}"),
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: front}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], frontend: {tls: {minProtocolVersion: '1.3'}, http: {http1MaxHeaders: 20}}}}",
  ].join("\n---\n");
}

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function get(
  target: string,
  options: { headers?: Record<string, string>; tlsVersion?: "TLSv1.2" | "TLSv1.3" } = {},
): Promise<Response> {
  const { headers = {}, tlsVersion } = options;
  const port = tlsVersion === undefined ? plain : secure;
  const where = { host: "127.0.0.1", port, path: target, headers };
  return new Promise((resolve, reject) => {
    const versions = { minVersion: tlsVersion, maxVersion: tlsVersion, rejectUnauthorized: false };
    const sent =
      tlsVersion === undefined ? requestHttp(where) : requestHttps({ ...where, ...versions });
    sent.on("error", reject).on("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.end();
  });
}

it("a rule without backends refuses its requests, and lets none fall through to another one", async () => {
  expect(await get("/shared/empty")).toMatchObject({ status: 500, body: "no backend" });
});

it("filters change path and headers, and weights share the requests", async () => {
  const responses = await Promise.all(Array.from({ length: 80 }, () => get("/shared/x?y=1")));
  const reached = responses.map(({ body }) => JSON.parse(body));
  expect(reached[0]).toMatchObject({ url: "/x?y=1", headers: { "x-team": "a" } });
  expect(responses[0]?.headers["x-by"]).toBe("gw");
  const ones = reached.filter(({ name }) => name === "one").length;
  expect(ones).toBeGreaterThan(40);
  expect(ones).toBeLessThan(80);
});

it("a redirect filter answers by itself", async () => {
  const { status, headers } = await get("/moved/x");
  expect([status, headers.location]).toEqual([301, `http://new.example.com:${plain}/moved/x`]);
});

it("API keys come from the entries of mounted Secrets, with their metadata", async () => {
  const as = (key: string) => get("/keyed", { headers: { authorization: `Bearer ${key}` } });
  expect((await get("/keyed")).status).toBe(401);
  expect((await as("alices-key")).status).toBe(403);
  expect((await as("bobs-key")).status).toBe(200);
});

it("PreRouting policies of a listener choose the route, and tell it who the client is", async () => {
  const as = (key: string) => get("/tier", { headers: { authorization: `Bearer ${key}` } });
  const gold = await as("bobs-key");
  expect(JSON.parse(gold.body).headers).toMatchObject({ "x-tier": "gold" });
  expect(JSON.parse(gold.body).headers.authorization).toBeUndefined();
  expect((await as("alices-key")).status).toBe(404);
  expect((await as("no-key")).status).toBe(401);
});

it("a policy that answers takes the place of the route's backend", async () => {
  expect(await get("/closed")).toMatchObject({ status: 503, body: "closed" });
});

it("transformations read the request and the response", async () => {
  const { headers, body } = await get("/changed");
  expect(headers["x-code"]).toBe("200");
  expect(JSON.parse(body)).toMatchObject({ headers: { "x-method": "GET" } });
});

it("a local limit holds", async () => {
  const statuses = [await get("/limited"), await get("/limited"), await get("/limited")];
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
});

it("the certificate comes from a mounted Secret, and the frontend's TLS versions hold", async () => {
  expect((await get("/closed", { tlsVersion: "TLSv1.3" })).status).toBe(503);
  await expect(get("/closed", { tlsVersion: "TLSv1.2" })).rejects.toThrow();
});
