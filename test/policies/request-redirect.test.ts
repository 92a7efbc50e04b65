import { beforeAll, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

/** Redirects by route, and the location for a request for `/ROUTE/x?q=1` of shop.example:8080. */
const redirects = {
  scheme: [{ scheme: "https" }, "https://shop.example/scheme/x?q=1"],
  host: [{ authority: { host: "a.example" } }, "http://a.example:8080/host/x?q=1"],
  "host-scheme": [
    { scheme: "https", authority: { host: "a.example" } },
    "https://a.example/host-scheme/x?q=1",
  ],
  port: [{ authority: { port: 81 } }, "http://shop.example:81/port/x?q=1"],
  "port-own": [
    { scheme: "https", authority: { port: 443 } },
    "https://shop.example/port-own/x?q=1",
  ],
  full: [{ authority: { full: "a.example:81" } }, "http://a.example:81/full/x?q=1"],
  path: [{ path: { full: "/new" } }, "http://shop.example:8080/new?q=1"],
  prefix: [{ path: { prefix: "/new" } }, "http://shop.example:8080/new/x?q=1"],
} as const;

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const routes = Object.entries(redirects).map(([name, [requestRedirect]]) => [
    name,
    { policies: { requestRedirect }, backends: [] },
  ]);
  gateway = await startRoutes(
    {
      ...Object.fromEntries(routes),
      permanent: { policies: { requestRedirect: { scheme: "https", status: 308 } }, backends: [] },
      "behind-rule": {
        policies: {
          authorization: { rules: ['request.headers["x-in"] == "1"'] },
          requestRedirect: { scheme: "https" },
        },
        backends: [],
      },
    },
    upstream,
  );
});

const host = { host: "shop.example:8080" };

it.each(Object.entries(redirects))("a client is redirected: %s", async (name, [, expected]) => {
  const { status, headers, body } = await call(`${gateway.url}/${name}/x?q=1`, host);
  expect({ status, location: headers.location, body }).toEqual({
    status: 302,
    location: expected,
    body: "",
  });
});

it("the status is the configured one", async () => {
  expect((await call(`${gateway.url}/permanent`, host)).status).toBe(308);
});

it("policies before it decide first", async () => {
  expect((await call(`${gateway.url}/behind-rule`, host)).status).toBe(403);
  expect((await call(`${gateway.url}/behind-rule`, { ...host, "x-in": "1" })).status).toBe(302);
});

it("a path with two slashes stays on the host", async () => {
  const { headers } = await call(`${gateway.url}/scheme//evil.example/`, host);
  expect(headers.location).toBe("https://shop.example/scheme/evil.example/");
});

it("policies after it are reported and ignored", () => {
  expect(
    findings({
      policies: { requestRedirect: { scheme: "https" }, directResponse: { status: 200 } },
    }),
  ).toEqual(["never-reached", "never-reached"]);
});
