import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const mcp = (name: string, weight: number, url = `http://${name}.test/mcp`) =>
  `{mcp: {targets: [{name: ${name}, mcp: {host: "${url}"}}]}, weight: ${weight}}`;

const config = (...tools: readonly string[]) => `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies: {mcpAuthorization: {rules: ['mcp.tool.name in ["echo", "add"]']}}
            backends: [${tools.join(", ")}]
          - name: both
            matches: [{path: {pathPrefix: /both}}]
            policies: {authorization: {rules: ['request.headers["x-team"] == "blue"']}}
            backends: [${mcp("near", 9)}, {host: "plain.test:80", weight: 1}]
`;

const stable = config(mcp("stable", 9), mcp("canary", 1));

it("gwc test sends what it asks for to the backend that has it, every time", async () => {
  const tests = `servers:
  stable: {tools: [echo, drop]}
  canary: {tools: [add]}
  near: {tools: [far]}
tests:
  - {name: echo, route: tools, tool: echo, expect: {allowed: true}}
  - {name: add, route: tools, tool: add, expect: {allowed: true}}
  - {name: drop, route: tools, tool: drop, expect: {allowed: false}}
  - {name: listed, route: tools, list: tools, expect: {listed: [echo]}}
  - {name: far, route: both, tool: far, headers: {x-team: blue}, expect: {allowed: true}}
  - {name: plain, request: "GET http://localhost:3000/both", headers: {x-team: blue}, expect: {status: 200}}
  - {name: refused, request: "GET http://localhost:3000/both", expect: {status: 403}}
`;
  const { folder } = new Workspace({ "gateway.yaml": stable, "access.test.yaml": tests });
  for (let run = 0; run < 4; run++) {
    const { code, stdout, stderr } = await gwc(["test"], { cwd: folder });
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("7 passed")]);
  }
});

it("gwc diff says which server is gained, also under a name that is there, and which gets nothing", async () => {
  const twice = [mcp("stable", 9), mcp("stable", 1, "http://other.test/mcp")] as const;
  const files = {
    "one.yaml": config(twice[0]),
    "two.yaml": config(...twice),
    "none.yaml": config(twice[0], twice[1].replace("weight: 1", "weight: 0")),
  };
  const { folder } = new Workspace(files);
  const diff = async (...names: readonly string[]) => {
    const argv = ["diff", ...names.map((name) => `${name}.yaml`)];
    const { stdout } = await gwc(argv, { cwd: folder });
    return stdout.split("\n").filter((line) => /^(OPENS|CLOSES)/.test(line));
  };
  const opens = expect.stringMatching(/^OPENS .*MCP server stable \(of backend 2\) added/);
  const closes = expect.stringMatching(/^CLOSES .*MCP server stable \(of backend 2\) removed/);
  expect(await diff("one", "two")).toEqual([opens]);
  expect(await diff("none", "two")).toEqual([opens]);
  expect(await diff("two", "none")).toEqual([closes]);
});

it("gwc can, explain and graph know every backend of the route", async () => {
  const { folder } = new Workspace({ "gateway.yaml": stable });
  const say = async (...argv: readonly string[]) => (await gwc(argv, { cwd: folder })).stdout;
  const may = await say("can", "call", "tool", "echo");
  expect(may).toContain("server stable: yes");
  expect(may).toContain("server canary: yes");
  expect(await say("explain", "route", "tools")).toContain(
    "backend: mcp (stable) (weight 9), mcp (canary) (weight 1)",
  );
  const graph = await say("graph");
  for (const server of ["stable.test", "canary.test", "near.test", "plain.test"])
    expect(graph).toContain(server);
});
