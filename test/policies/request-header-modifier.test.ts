import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  process.env.GWC_TEST_HEADER = "from the environment";
  upstream = await startEcho();
  const changes = {
    set: { "X-Set": "gateway", "x-late": "${GWC_TEST_HEADER}" },
    add: { "x-added": "gateway" },
    remove: ["X-Removed"],
  };
  gateway = await startRoutes(
    {
      own: { policies: { requestHeaderModifier: changes } },
      cluster: { policies: { headerModifiers: { request: changes } } },
    },
    upstream,
  );
});

afterAll(async () => {
  delete process.env.GWC_TEST_HEADER;
});

it.each(["own", "cluster"])("headers are set, added and removed (%s name)", async (route) => {
  const response = await call(`${gateway.url}/${route}`, {
    "x-SET": "client",
    "x-added": "client",
    "X-REMOVED": "client",
    "x-kept": "client",
  });
  const { headers }: Echoed = JSON.parse(response.body);
  expect(headers).toMatchObject({
    "x-set": "gateway",
    "x-late": "from the environment",
    "x-added": "client, gateway",
    "x-kept": "client",
  });
  expect(headers).not.toHaveProperty("x-removed");
});

it("connection headers and Host can't be changed", () => {
  const set = (name: string) =>
    findings({ policies: { requestHeaderModifier: { set: { [name]: "x" } } } });
  expect(set("Content-Length")).toEqual(["connection-header"]);
  expect(set("host")).toEqual(["connection-header"]);
  expect(set("x y")).toEqual(["bad-format"]);
  expect(set("x-fine")).toEqual([]);
});

it("a value that could end its header is refused", () => {
  const set = (value: string) =>
    findings({ policies: { requestHeaderModifier: { set: { "x-a": value } } } });
  expect(set("a\r\nx-b: forged")).toEqual(["bad-format"]);
  expect(set("snowman ☃")).toEqual(["bad-format"]);
  expect(set("crème")).toEqual([]);
});

it("a name is changed once", () => {
  expect(
    findings({ policies: { requestHeaderModifier: { set: { "x-a": "1" }, remove: ["X-A"] } } }),
  ).toEqual(["header-conflict"]);
  expect(
    findings({ policies: { requestHeaderModifier: { set: { Authorization: "Bearer abc" } } } }),
  ).toEqual(["literal-secret"]);
});

it("two names of one policy are a mistake", () => {
  const changes = { remove: ["x-a"] };
  expect(
    findings({
      policies: { requestHeaderModifier: changes, headerModifiers: { request: changes } },
    }),
  ).toEqual(["duplicate-policy"]);
});
