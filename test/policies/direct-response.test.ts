import { beforeAll, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const response = (directResponse: object) => ({ policies: { directResponse }, backends: [] });
  gateway = await startRoutes(
    {
      text: response({ status: 503, body: "closed for today: ☃" }),
      json: response({ status: 200, body: "{}", headers: { "Content-Type": "application/json" } }),
      bare: response({ status: 204 }),
      made: response({
        status: 200,
        bodyExpression: '{"path": request.path, "name": request.headers["x-name"]}',
      }),
      "made-text": response({
        status: 418,
        headers: { "content-type": "text/html" },
        bodyExpression: "request.method",
      }),
      "made-headers": response({
        status: 200,
        body: "hello",
        headers: {
          "x-path": "request.path",
          "x-who": '"hello " + request.headers["x-name"]',
          "x-fixed": "'text'",
          "content-type": "text/html",
          "cache-control": "no-store",
        },
      }),
      chosen: {
        policies: {
          directResponse: {
            conditional: [
              { condition: 'request.headers["x-ask"] == "a"', status: 403 },
              {
                condition: 'request.headers["x-ask"] == "b"',
                status: 200,
                bodyExpression: '"b " + request.path',
              },
            ],
          },
        },
      },
      always: response({
        conditional: [{ condition: 'request.method == "POST"', status: 200 }, { status: 404 }],
      }),
      refused: {
        policies: {
          cors: { allowOrigins: ["https://app.example"] },
          directResponse: { status: 200, body: "hello" },
        },
        backends: [],
      },
    },
    upstream,
  );
});

it("the gateway answers by itself", async () => {
  const text = await call(`${gateway.url}/text`, {});
  expect(text).toMatchObject({ status: 503, body: "closed for today: ☃" });
  expect(text.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(upstream.count()).toBe(0);
});

it("its headers are the configured ones", async () => {
  const json = await call(`${gateway.url}/json`, {});
  expect(json.headers["content-type"]).toBe("application/json");
  const bare = await call(`${gateway.url}/bare`, {});
  expect(bare).toMatchObject({ status: 204, body: "" });
  expect(bare.headers).not.toHaveProperty("content-type");
});

it("policies before it change the response", async () => {
  const response = await call(`${gateway.url}/refused`, { origin: "https://app.example" });
  expect(response.headers["access-control-allow-origin"]).toBe("https://app.example");
  while (!gateway.output.includes("route=refused")) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(gateway.output).toMatch(/route=refused .*reason=DirectResponse/);
});

it("a route without backend and without a response is a mistake", () => {
  expect(findings({ policies: {}, backends: [] })).toEqual(["route-without-backend"]);
  expect(findings({ policies: { directResponse: { status: 200 } }, backends: [] })).toEqual([]);
  expect(
    findings({ policies: { directResponse: { status: 204, body: "x" } }, backends: [] }),
  ).toEqual(["body-not-allowed"]);
});

it("a body may be computed from the request", async () => {
  const json = await call(`${gateway.url}/made?a=1`, { "x-name": "Ada" });
  expect(json).toMatchObject({ status: 200, body: '{"path":"/made","name":"Ada"}' });
  expect(json.headers["content-type"]).toBe("application/json");
  const text = await call(`${gateway.url}/made-text`, {});
  expect(text).toMatchObject({ status: 418, body: "GET" });
  expect(text.headers["content-type"]).toBe("text/html");
  expect((await call(`${gateway.url}/made`, {})).body).toBe("");
});

it("headers may be computed from the request", async () => {
  const { status, headers, body } = await call(`${gateway.url}/made-headers`, { "x-name": "Ada" });
  expect({ status, body }).toEqual({ status: 200, body: "hello" });
  expect(headers).toMatchObject({
    "x-path": "/made-headers",
    "x-who": "hello Ada",
    "x-fixed": "text",
    "content-type": "text/html",
    "cache-control": "no-store",
  });
  const anonymous = await call(`${gateway.url}/made-headers`, {});
  expect(anonymous.headers).not.toHaveProperty("x-who");
});

it("a header that is meant as an expression must be a valid one", () => {
  const found = (value: string) =>
    findings({
      policies: { directResponse: { status: 200, headers: { "x-a": value } } },
      backends: [],
    });
  expect(found("request.pth")).toEqual(["cel-unknown-field"]);
  expect(found("jwt.sub")).toEqual(["absent-identity"]);
  expect(found("mcp-server")).toEqual([]);
  expect(found("https://a.test/?b='c'")).toEqual([]);
});

it("the first conditional response that applies is sent", async () => {
  expect((await call(`${gateway.url}/chosen`, { "x-ask": "a" })).status).toBe(403);
  expect((await call(`${gateway.url}/chosen`, { "x-ask": "b" })).body).toBe("b /chosen");
  expect((await call(`${gateway.url}/chosen`, {})).status).toBe(200);
  expect((await call(`${gateway.url}/always`, {})).status).toBe(404);
});

it("a route with only conditional responses needs a backend", () => {
  const found = (directResponse: object) =>
    findings({ policies: { directResponse }, backends: [] });
  const condition = 'request.method == "GET"';
  expect(found({ conditional: [{ condition, status: 200 }] })).toEqual(["route-without-backend"]);
  expect(found({ conditional: [{ condition, status: 200 }, { status: 404 }] })).toEqual([]);
  expect(found({ conditional: [{ status: 200 }, { condition, status: 404 }] })).toContain(
    "early-fallback",
  );
  expect(found({ status: 200, body: "a", bodyExpression: '"a"' })).toEqual(["wrong-choice"]);
  expect(found({ status: 204, bodyExpression: '"a"' })).toEqual(["body-not-allowed"]);
});
