import { createServer, type IncomingMessage } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "./manifests.ts";

let services: EnvoyServices;
let gateway: Gateway;
/** The requests that the HTTP authorization server received. */
const asked: { url: string; headers: IncomingMessage["headers"]; body: string }[] = [];

const backend = (name: string, url: string): string => {
  const { hostname, port } = new URL(url);
  return `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {
    static: {host: ${hostname}, port: ${port}}}}`;
};

/** A rule of the path `/NAME` with the filter. */
const rule = (name: string, filter: string): string => `
  {matches: [{path: {value: /${name}}}], filters: [{type: ExternalAuth, externalAuth: ${filter}}],
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}`;

const manifests = (rules: readonly string[]): string => `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: asks}, spec: {
  gatewayClassName: gwc, listeners: [{name: web, port: 8081, protocol: HTTP}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: shop}, spec: {
  parentRefs: [{name: asks}], rules: [${rules.join(",")}]}}
`;

const server = (name: string): string =>
  `backendRef: {group: gwc.dev, kind: GatewayBackend, name: ${name}}`;

beforeAll(async () => {
  services = await startEnvoyServices();
  // Refuses unknown callers.
  const authorization = createServer(async (request, response) => {
    const { url = "", headers } = request;
    const body = Buffer.concat(await request.toArray()).toString();
    asked.push({ url, headers, body });
    const isKnown = headers.authorization === "Bearer known";
    response.writeHead(isKnown ? 200 : 401, { "x-user": "ann", "content-type": "text/x-verdict" });
    response.end(isKnown ? "" : "who are you?");
  });
  const shop = await startUpstream((request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  gateway = await startGateway({
    config: [
      manifests([
        rule("grpc", `{protocol: GRPC, ${server("calls")}, grpc: {allowedHeaders: [x-verdict]}}`),
        rule("all", `{protocol: GRPC, ${server("calls")}, grpc: {}}`),
        rule("http", `{protocol: HTTP, ${server("asks")}, http: {}}`),
        rule(
          "chosen",
          `{protocol: HTTP, ${server("asks")}, forwardBody: {maxSize: 5},
            http: {path: /check, allowedHeaders: [X-Tenant], allowedResponseHeaders: [x-other]}}`,
        ),
      ]),
      backend("calls", services.url),
      backend("asks", `http://127.0.0.1:${await listen(authorization)}`),
      backend("shop", shop),
    ].join("\n---\n"),
  });
});

describe("the filter ExternalAuth", () => {
  it("asks by gRPC, with the headers that it allows or all of them", async () => {
    const denied = { "x-verdict": JSON.stringify({ status: { code: 7 } }), "x-more": "1" };
    const headersOf = async (path: string) => {
      expect((await send(`${gateway.url}/${path}`, "GET", denied)).status).toBe(403);
      return services.seen().at(-1)?.message.attributes.request.http.headers;
    };
    expect(Object.keys(await headersOf("grpc"))).toEqual(["x-verdict"]);
    expect(await headersOf("all")).toMatchObject({ "x-more": "1", ":path": "/all" });
    expect((await send(`${gateway.url}/grpc`, "GET")).status).toBe(200);
  });

  it("asks by HTTP: others get the server's response, and the backend its headers", async () => {
    const refused = await send(`${gateway.url}/http?a=1`, "GET", { "x-tenant": "t" });
    expect(refused).toMatchObject({ status: 401, body: "who are you?" });
    expect(asked.at(-1)).toMatchObject({ url: "/http?a=1" });
    expect(asked.at(-1)?.headers).not.toHaveProperty("x-tenant");

    const known = { authorization: "Bearer known", "x-user": "eve", "content-type": "text/plain" };
    const passed = await send(`${gateway.url}/http`, "POST", known, "hello world");
    expect(asked.at(-1)).toMatchObject({ body: "" });
    expect(JSON.parse(passed.body)).toMatchObject({
      "x-user": "ann",
      "content-type": "text/plain",
    });
  });

  it("asks on another path, with a body within its size, and takes the headers that it names", async () => {
    const known = { authorization: "Bearer known", "x-tenant": "t", "x-other": "spoofed" };
    const passed = await send(`${gateway.url}/chosen?a=1`, "POST", known, "hello");
    expect(asked.at(-1)).toMatchObject({ url: "/check/chosen?a=1", body: "hello" });
    expect(asked.at(-1)?.headers).toMatchObject({ "x-tenant": "t" });
    expect(Object.keys(JSON.parse(passed.body))).not.toContain("x-user");
    expect(Object.keys(JSON.parse(passed.body))).not.toContain("x-other");
    expect((await send(`${gateway.url}/chosen`, "POST", known, "hello!")).status).toBe(413);
  });

  it("has to say of the protocol that it names", () => {
    const told = (filter: string) =>
      complaints(
        checkManifests(
          [manifests([rule("a", filter)]), backend("shop", "http://a:1")].join("\n---\n"),
        ),
      );
    expect(told("{protocol: HTTP, backendRef: {name: a, port: 80}, grpc: {}}").join()).toContain(
      '"grpc" requires protocol: GRPC',
    );
    expect(told("{protocol: HTTP, backendRef: {name: a, port: 80}}").join()).toContain('"grpc"');
    expect(told("{protocol: HTTP, backendRef: {name: a, port: 80}, http: {}}").join()).toContain(
      "missing-reference",
    );
  });
});
