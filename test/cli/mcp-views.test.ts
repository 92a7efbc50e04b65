import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { auditPrograms } from "../../compiler/inspect/audit/audit.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";
import { diffOf } from "./diff-of.ts";

const RULES = `
          - allow: mcp.tool.name == "search"
          - allow: mcp.tool.name == "create" && mcp.tool.arguments.repo == "acme"
          - allow: mcp.tool.name == "merge" && !has(mcp.tool.arguments.force)
          - allow: mcp.tool.name == "close" && request.path.endsWith("/support")`;

/** A route of two servers with views, as lines of YAML. */
const config = (views: string, path = "pathPrefix: /mcp") => `
gateways: { default: { port: 3000 } }
routes:
  - name: tools
    matches: [{ path: { ${path} } }]
    policies:
      mcpAuthorization:
        rules:${RULES}
    backends:
      - mcp:${views}
          targets:
            - { name: code, mcp: { host: "http://127.0.0.1:1/mcp" } }
            - { name: docs, mcp: { host: "http://127.0.0.1:2/mcp" } }
`;
const view = (...tools: readonly string[]) => `
          views:
            - name: support
              prefix: false
              tools:${tools.map((tool) => `\n                - { ${tool} }`).join("")}`;
const SEARCH = "target: docs, tool: search";
const REPORT = "target: code, tool: create, name: report, set: { repo: acme }";

/** Returns the first line and the line of the view in the output of \`gwc can call tool\`. */
async function can(tool: string, views: string): Promise<readonly (string | undefined)[]> {
  const { folder } = new Workspace({ "gateway.yaml": config(views) });
  const { stdout } = await gwc(["can", "call", "tool", tool], { cwd: folder });
  const lines = stdout.split("\n");
  return [lines[0], lines.find((line) => line.includes("view support"))];
}

const VIEWED = (target: string, outcome: string) =>
  `route tools (listener default), view support, server ${target}: ${outcome}`;

it.each([
  ["a fixed argument that a rule allows", "report", REPORT, "code", "yes"],
  ["a fixed argument that no rule allows", "report", REPORT.replace("acme", "other"), "code", "no"],
  [
    "a hidden argument that a rule forbids",
    "m",
    "target: code, tool: merge, name: m, hide: [force]",
    "code",
    "yes",
  ],
  ["an argument of the client", "m", "target: code, tool: merge, name: m", "code", "it depends"],
  ["a rule about the path of the view", "c", "target: docs, tool: close, name: c", "docs", "yes"],
])("gwc can judges a tool of a view by %s", async (_, tool, entry, target, outcome) => {
  expect(await can(tool, view(entry))).toEqual([
    `${outcome}: tool ${tool}`,
    VIEWED(target, outcome),
  ]);
});

it("gwc can knows the names that tools have outside of views", async () => {
  const { folder } = new Workspace({
    "gateway.yaml": config(`\n          tools: [{ ${REPORT} }]`),
  });
  const { stdout } = await gwc(["can", "call", "tool", "report"], { cwd: folder });
  expect(stdout).toContain("route tools (listener default), server code: yes");
});

it.each([
  [
    [SEARCH],
    [SEARCH, REPORT],
    "OPENS",
    "view support: tool create of code added, without the arguments repo",
  ],
  [[SEARCH, REPORT], [SEARCH], "CLOSES", "view support: tool create of code removed"],
  [
    [REPORT],
    ["target: code, tool: create, name: report"],
    "OPENS",
    "clients set the argument repo",
  ],
  [
    ["target: code, tool: create, name: report"],
    [REPORT],
    "CLOSES",
    "clients do not set the argument repo",
  ],
  [
    [REPORT],
    [REPORT.replace("acme", "b")],
    "CHANGES",
    "view support: tool create of code: set.repo acme -> b",
  ],
  [
    [SEARCH],
    ["target: docs, tool: search, name: find"],
    "CHANGES",
    "tool search of docs: name search -> find",
  ],
] as const)("gwc diff from %j to %j says %s", (before, after, direction, text) => {
  const output = diffOf(config(view(...before)), config(view(...after)));
  expect(output).toContain(direction);
  expect(output).toContain(text);
});

it("gwc diff says what a new view shows, and what is seen without it", () => {
  const [without, withView] = [config(""), config(view(SEARCH, REPORT))];
  expect(diffOf(without, withView)).toMatch(
    /CLOSES .*view support added: clients at \/support see only search, report/,
  );
  expect(diffOf(withView, without)).toMatch(
    /OPENS .*view support removed: clients at \/support see all tools/,
  );
});

it.each([
  ["permissions: []", "permissions: [camera]", "OPENS", "permission of apps camera added"],
  ["permissions: []", undefined, "OPENS", "limit of the permissions of apps removed"],
  [undefined, "frameDomains: []", "CLOSES", "limit of the origins of apps added"],
  [
    'connectDomains: ["https://a.test", "https://b.test"]',
    'connectDomains: ["https://a.test"]',
    "CLOSES",
    "origin for requests of apps https://b.test removed",
  ],
] as const)("gwc diff from apps with %j to %j says %s", (before, after, direction, text) => {
  const [old, now] = [before, after].map((limits) =>
    config(limits === undefined ? "" : `\n          apps: { ${limits} }`),
  );
  expect(diffOf(old ?? "", now ?? "")).toMatch(new RegExp(`${direction} .*${text}`));
});

it("the order of tools and views is no difference", () => {
  const [one, other] = [view(SEARCH, REPORT), view(REPORT, SEARCH)];
  expect(diffOf(config(one), config(other))).not.toMatch(/OPENS|CLOSES|CHANGES/);
});

/** Returns the codes of an audit and of the check before it, about views. */
function found(text: string): readonly string[] {
  const { programs, findings } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  const audited = auditPrograms(programs).map(({ code }) => code);
  const checked = findings.map(({ code }) => code);
  return [...checked, ...audited].filter((code) => code.includes("view"));
}

it.each([
  ["a tool that some arguments allow", view(SEARCH, REPORT), []],
  ["a tool that no rule allows", view("target: docs, tool: purge"), ["denied-view-tool"]],
  ["a fixed argument that rules refuse", view(REPORT.replace("acme", "b")), ["denied-view-tool"]],
  [
    "a fixed argument that a rule forbids",
    view("target: code, tool: merge, set: { force: true }"),
    ["denied-view-tool"],
  ],
])("gwc audit of %s", (_, views, codes) => {
  expect(found(config(views))).toEqual(codes);
});

it.each([
  ["exact: /mcp", ["unreached-view"]],
  ["exact: /mcp/support", []],
  ["exact: /mcp/SUPPORT", ["unreached-view"]],
  ["pathPrefix: /", []],
  ["pathPrefix: /mcp", []],
  ['regex: "/mcp/.*"', []],
])("the view of a route with the path %s", (path, codes) => {
  expect(found(config(view(SEARCH), path))).toEqual(codes);
});

it("gwc test sends requests to views", async () => {
  const tests = `
servers: { code: { tools: [create, merge] }, docs: { tools: [search, close] } }
tests:
  - { name: report, view: support, tool: report, arguments: { title: a }, expect: { allowed: true, rule: 'mcp.tool.name == "create" && mcp.tool.arguments.repo == "acme"' } }
  - { name: raw, view: support, tool: code_create, arguments: { repo: acme }, expect: { allowed: false } }
  - { name: outside, tool: report, expect: { allowed: false } }
  - { name: listed, view: support, list: tools, expect: { listed: [search, report] } }
  - { name: all, list: tools, expect: { listed: [code_create, code_merge, docs_search] } }
`;
  const files = { "gateway.yaml": config(view(SEARCH, REPORT)), "a.test.yaml": tests };
  const { stdout, stderr } = await gwc(["test"], { cwd: new Workspace(files).folder });
  expect(`${stdout}${stderr}`).toContain("5 passed");
});

it("gwc test reports a view that the route does not have", async () => {
  const tests = `tests:\n  - { name: a, view: suport, tool: report, expect: { allowed: false } }\n`;
  const files = { "gateway.yaml": config(view(SEARCH)), "a.test.yaml": tests };
  const { stdout, stderr } = await gwc(["test"], { cwd: new Workspace(files).folder });
  expect(`${stdout}${stderr}`).toContain('the configuration has no view "suport"');
  expect(`${stdout}${stderr}`).toContain('did you mean "support"');
});
