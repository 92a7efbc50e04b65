import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

let gateway: Gateway;
let one: Scripted;
let two: Scripted;

beforeAll(async () => {
  one = await startScripted((response, _count, { headers }) =>
    response.end(`one ${headers.authorization}`),
  );
  two = await startScripted((response, _count, { headers }) =>
    response.end(`two ${headers.authorization}`),
  );
  process.env.GWC_TEST_KEY = "key";
  process.env.GWC_TEST_OTHER = "other";
  const backend = (name: string, rest: object = {}) => ({ backend: name, ...rest });
  const auth = (key: string) => ({ policies: { backendAuth: { key } } });
  const route = (name: string, backends: readonly object[], policies: object = {}) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends,
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("one", [backend("one")]),
          route("two", [backend("two")]),
          route("own", [backend("two", auth("${GWC_TEST_OTHER}"))]),
          route("over", [backend("two")], auth("${GWC_TEST_OTHER}").policies),
          route("either", [backend("one", { weight: 1 }), backend("two", { weight: 0 })]),
          route("copied", [backend("one")], { requestMirror: { backend: backend("two") } }),
        ],
      },
    ],
    file: {
      backends: [
        { name: "one", host: one.host },
        { name: "two", host: two.host, ...auth("${GWC_TEST_KEY}") },
      ],
    },
  });
});

const get = async (path: string) => (await send(`${gateway.url}${path}`, "GET")).body;

it("routes reach the backend that they name", async () => {
  expect(await get("/one")).toBe("one undefined");
  expect(await get("/two")).toBe("two Bearer key");
  expect(await get("/either")).toBe("one undefined");
});

it("what a route says of its backend wins over what the backend says, and that over the route", async () => {
  expect(await get("/own")).toBe("two Bearer other");
  expect(await get("/over")).toBe("two Bearer key");
});

it("copies go to a named backend as it is reached", async () => {
  const before = two.received.length;
  expect(await get("/copied")).toBe("one undefined");
  await expect.poll(() => two.received.length).toBe(before + 1);
  expect(two.received.at(-1)?.headers.authorization).toBe("Bearer key");
});

describe("mistakes", () => {
  const findings = (backends: readonly object[], route: object) => {
    const file = { backends, binds: [{ port: 8080, listeners: [{ routes: [route] }] }] };
    const host = memoryHost({ "gateway.yaml": JSON.stringify(file) });
    return checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false }).diagnostics.map(
      ({ code }) => code,
    );
  };
  const named = [{ name: "one", host: "127.0.0.1:1" }];
  const mcp = { targets: [{ name: "a", mcp: { host: "http://127.0.0.1:1" } }] };
  const to = (name: string) => ({ backends: [{ backend: name }] });

  it("of names", () => {
    expect(findings(named, to("one"))).toEqual([]);
    expect(findings(named, to("on"))).toEqual(["missing-reference"]);
    expect(findings([...named, ...named], to("one"))).toEqual(["duplicate-backend"]);
    expect(findings([{ name: "one" }], to("one"))).toEqual(["wrong-choice"]);
  });

  it("of what a named backend is", () => {
    const mirror = { policies: { requestMirror: { backend: { backend: "tools" } } } };
    const tools = [...named, { name: "tools", mcp }];
    expect(findings(tools, to("tools"))).toEqual([]);
    expect(findings(tools, { ...to("one"), ...mirror })).toEqual(["needs-host-backend"]);
    expect(findings(named, { ...to("one"), ...mirror })).toEqual(["missing-reference"]);
  });
});
