import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const config = (limit: number) => `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies:
              mcpAuthorization:
                rules:
                  - mcp.tool.name == "pay" && mcp.tool.arguments.amount <= ${limit}
                  - deny: has(mcp.tool.arguments.currency) && mcp.tool.arguments.currency != "EUR"
            backends: [{mcp: {targets: [{name: bank, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
`;
const tests = `tests:
  - {name: little, tool: pay, arguments: {amount: 50}, expect: {allowed: true, rule: 'mcp.tool.name == "pay" && mcp.tool.arguments.amount <= 100'}}
  - {name: much, tool: pay, arguments: {amount: 500}, expect: {allowed: false}}
  - {name: dollars, tool: pay, arguments: {amount: 5, currency: USD}, expect: {allowed: false, rule: 'has(mcp.tool.arguments.currency) && mcp.tool.arguments.currency != "EUR"'}}
  - {name: listed, list: tools, expect: {listed: [pay]}}
servers: {bank: {tools: [pay, close]}}
`;
const folder = () =>
  new Workspace({ "a.yaml": config(100), "b.yaml": config(200), "tests.yaml": tests }).folder;

it("gwc can names the arguments that a call needs", async () => {
  const { stdout } = await gwc(["can", "call", "tool", "pay", "-f", "a.yaml"], { cwd: folder() });
  expect(stdout).toContain("it depends: tool pay");
  expect(stdout).toContain("when     mcp.tool.arguments.amount <= 100");
});

it("gwc can says no for a tool that no arguments allow", async () => {
  const result = await gwc(["can", "call", "tool", "close", "-f", "a.yaml"], { cwd: folder() });
  expect(result).toMatchObject({ code: 1, stdout: expect.stringMatching(/^no: tool close/) });
});

it("gwc diff reports arguments that become callable", async () => {
  const { stdout } = await gwc(["diff", "a.yaml", "b.yaml"], { cwd: folder() });
  expect(stdout).toMatch(/OPENS {3}route tools .* hidden -> callable/);
  expect(stdout).toContain("mcp.tool.arguments.amount <= 200");
});

it("gwc test judges calls by their arguments, and names the rule", async () => {
  const result = await gwc(["test", "tests.yaml", "-f", "a.yaml"], { cwd: folder() });
  expect(`${result.stdout}${result.stderr}`).toContain("4 passed");
});
