import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const RULES = ['request.host in ["api.test:443", "api.test:22", "10.0.0.1:443"]'];

/** Runs one test of a tunnel on a forward proxy whose backend has these settings. */
async function tunnelTest(request: string, expected: object, dynamic: object) {
  const policies = { authorization: { rules: RULES } };
  const route = { name: "out", policies, backends: [{ dynamic }] };
  const gateway = { binds: [{ port: 3128, listeners: [{ routes: [route] }] }] };
  const tests = [{ name: "one", request, expect: expected }];
  const { folder } = new Workspace({
    "gateway.yaml": JSON.stringify(gateway),
    "a.test.yaml": JSON.stringify({ tests }),
  });
  return gwc(["test"], { cwd: folder });
}

it.each([
  ["a host that rules allow", "api.test:443", { status: 200, backend: { server: "api.test:443" } }],
  ["a host that no rule allows", "other.test:443", { status: 403 }],
  ["a port that the backend does not open", "api.test:22", { status: 403 }],
  ["a private address", "10.0.0.1:443", { status: 403 }],
])("CONNECT to %s is tested", async (_, authority, expected) => {
  const { code, stdout } = await tunnelTest(`CONNECT ${authority}`, expected, { connect: {} });
  expect(stdout).toBe("");
  expect(code).toBe(0);
});

it("an expectation that a tunnel does not meet fails, and names the server", async () => {
  const { code, stdout } = await tunnelTest(
    "CONNECT api.test:443",
    { status: 403 },
    { connect: {} },
  );
  expect(code).toBe(1);
  expect(stdout).toContain("the status is 200, expected 403");
  expect(stdout).toContain("api.test:443 was called");
});

it("CONNECT on a forward proxy without tunnels is answered 501", async () => {
  const { code, stdout } = await tunnelTest("CONNECT api.test:443", { status: 501 }, {});
  expect(stdout).toBe("");
  expect(code).toBe(0);
});

it("CONNECT takes a host and a port, and no URL", async () => {
  const { code, stdout } = await tunnelTest("CONNECT https://api.test:443/", { status: 200 }, {});
  expect(code).toBe(1);
  expect(stdout).toContain("CONNECT api.example.com:443");
});
