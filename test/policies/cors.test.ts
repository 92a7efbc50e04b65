import { exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { corsRoutes } from "./cors-routes.ts";

let upstream: Echo;
let gateway: Gateway;
let token: Headers;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  // Like many servers: allows everything to everybody.
  upstream = await startEcho({
    "access-control-allow-origin": "*",
    "access-control-allow-credentials": "true",
    vary: "Accept-Encoding",
    "x-shown": "1",
  });
  gateway = await startRoutesText(
    corsRoutes(upstream, [
      "https://app.example",
      "http://LOCALHOST:8080",
      "https://*.example.com",
      "https://*.example.org:8443",
    ]),
    { "keys.json": JSON.stringify({ keys: [publicPart(key)] }) },
  );
  const claims = { iss: "https://issuer.example", exp: now() + 60 };
  token = { authorization: `Bearer ${await sign(key, claims)}` };
});

type Headers = Record<string, string>;

function call(method: "GET" | "OPTIONS", path: string, headers: Headers) {
  return send(`${gateway.url}${path}`, method, headers);
}

function corsHeaders(headers: Record<string, unknown>): string[] {
  return Object.keys(headers).filter((name) => name.startsWith("access-control-"));
}

describe("a request without Origin", () => {
  it("passes with a Vary header", async () => {
    const { status, headers } = await call("GET", "/listed", token);
    expect(status).toBe(200);
    expect(headers.vary).toEqual(["Accept-Encoding", "Origin"]);
  });
});

describe("an allowed origin", () => {
  it("gets its own name, credentials and exposed headers on the upstream's response", async () => {
    const { headers } = await call("GET", "/listed", { ...token, origin: "https://app.example" });
    expect(headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "X-Shown",
      vary: ["Accept-Encoding", "Origin"],
    });
  });

  it("can read a refusal", async () => {
    const { status, headers } = await call("GET", "/listed", { origin: "https://app.example" });
    expect(status).toBe(401);
    expect(headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      vary: "Origin",
    });
  });

  it("gets its preflight answered before the token check", async () => {
    const before = upstream.count();
    const { status, headers, body } = await call("OPTIONS", "/listed", {
      origin: "https://app.example",
      "access-control-request-method": "PUT",
      "access-control-request-headers": "x-asked",
    });
    expect({ status, body }).toEqual({ status: 200, body: "" });
    expect(headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "content-type, x-asked",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "300",
      vary: ["Origin", "Access-Control-Request-Method, Access-Control-Request-Headers"],
    });
    expect(upstream.count()).toBe(before);
  });

  it("gets any other OPTIONS answered, too", async () => {
    const { status, body } = await call("OPTIONS", "/listed", { origin: "https://app.example" });
    expect({ status, body }).toEqual({ status: 200, body: "" });
  });

  it.each([
    ["https://APP.example", "the host in another case"],
    ["https://app.example:443", "the scheme's own port"],
    ["http://localhost:8080", "a port"],
    ["https://a.example.com", "a subdomain"],
    ["https://a.b.example.com", "a subdomain of a subdomain"],
    ["https://a.example.org:8443", "a subdomain on a port"],
  ])("is %s: %s", async (origin) => {
    const { headers } = await call("GET", "/listed", { ...token, origin });
    expect(headers["access-control-allow-origin"]).toBe(origin);
  });
});

describe("a foreign origin", () => {
  it.each([
    ["http://app.example", "another scheme"],
    ["https://app.example:8443", "another port"],
    ["http://localhost", "a port that is missing"],
    ["https://example.com", "the domain of a wildcard itself"],
    ["https://evilexample.com", "a name that ends like one"],
    ["https://a.example.com:444", "a subdomain on another port"],
    ["https://evil.test/.example.com", "a path that ends like one"],
    ["https://evil.test:1.example.com", "a port that ends like one"],
    ["https://.example.com", "an empty label"],
    ["https://a.example.com.evil.test", "a name that contains one"],
    ["https://app.example https://evil.test", "two origins"],
    ["null", "the opaque origin"],
  ])("is %s: %s, and gets no permission, even from the upstream", async (origin) => {
    const { status, headers } = await call("GET", "/listed", { ...token, origin });
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers.vary).toEqual(["Accept-Encoding", "Origin"]);
  });

  it("gets an empty response to its preflight", async () => {
    const before = upstream.count();
    const { status, headers, body } = await call("OPTIONS", "/listed", {
      origin: "https://evil.test",
      "access-control-request-method": "PUT",
    });
    expect({ status, body, cors: corsHeaders(headers) }).toEqual({
      status: 200,
      body: "",
      cors: [],
    });
    expect(headers.vary).toBe("Origin");
    expect(upstream.count()).toBe(before);
  });
});

describe("any origin", () => {
  it("is echoed without an upstream's credentials", async () => {
    const { headers } = await call("GET", "/any", { origin: "https://who.test" });
    expect(headers["access-control-allow-origin"]).toBe("https://who.test");
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });

  it("includes the opaque one", async () => {
    const { headers } = await call("GET", "/any", { origin: "null" });
    expect(headers["access-control-allow-origin"]).toBe("null");
  });

  it("is granted the requested method and headers", async () => {
    const { headers } = await call("OPTIONS", "/any", {
      origin: "https://who.test",
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "x-a, x-b",
    });
    expect(headers).toMatchObject({
      "access-control-allow-methods": "DELETE",
      "access-control-allow-headers": "x-a, x-b",
    });
    expect(headers["access-control-max-age"]).toBeUndefined();
  });

  it("is granted everything if it requests nothing specific", async () => {
    const { headers } = await call("OPTIONS", "/any", { origin: "https://who.test" });
    expect(headers).toMatchObject({
      "access-control-allow-methods": "*",
      "access-control-allow-headers": "*",
    });
  });

  it("gets no literal star with credentials, where it would be a name", async () => {
    const { headers } = await call("OPTIONS", "/bare", { origin: "https://who.test" });
    expect(corsHeaders(headers)).toEqual([
      "access-control-allow-origin",
      "access-control-allow-credentials",
    ]);
  });
});
