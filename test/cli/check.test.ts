import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";
import { gatewayText } from "./gateway-text.ts";

const good = gatewayText({ upstream: 9, port: 3000 });
const bad = good.replace("name: api", "nam: api").replace("port: 3000", "port: 99999");

describe("gwc check", () => {
  it("passes a good file, with a line on stderr, and writes nothing", () => {
    const workspace = new Workspace({ "gateway.yaml": good });
    const { code, stdout, stderr } = installedGwc(["check", "gateway.yaml"], {
      cwd: workspace.folder,
    });
    expect([code, stdout, stderr]).toEqual([0, "", "gateway.yaml: valid, 1 route, 0 policies\n"]);
    expect(readdirSync(workspace.folder)).toEqual(["gateway.yaml"]);
  });

  it("reports every mistake in the order of the file, each with its source and a hint", async () => {
    const workspace = new Workspace({ "gateway.yaml": bad });
    const { code, stdout } = await gwc(["check", "gateway.yaml"], { cwd: workspace.folder });
    expect(code).toBe(1);
    expect(stdout).toBe(`error[out-of-range]: "port" must be at most 65535
 --> gateway.yaml:3:11
3 |   - port: 99999
  |           ^^^^^

error[unknown-field]: routes[0] has no field "nam"
 --> gateway.yaml:6:13
6 |           - nam: api
  |             ^^^
  = hint: did you mean "name"?

2 errors
`);
  });

  it("warnings pass, and with --strict they don't", async () => {
    const tls = "protocol: HTTPS\n        tls: {cert: none.pem, key: none.pem}\n        routes:";
    const workspace = new Workspace({ "a.yaml": good.replace("routes:", tls) });
    const situation = { cwd: workspace.folder };
    const warned = await gwc(["check", "a.yaml"], situation);
    expect(warned.code).toBe(0);
    expect(warned.stdout).toContain("warning[file-not-here]");
    expect(warned.stdout).toContain("\n2 warnings\n");
    const strict = await gwc(["check", "--strict", "a.yaml"], situation);
    expect(strict.code).toBe(1);
    expect(strict.stdout).toContain("error[file-not-here]");
  });

  it("colours are for terminals, for those who ask, and never with NO_COLOR", () => {
    const workspace = new Workspace({ "a.yaml": bad });
    const colored = (env: Readonly<Record<string, string>>): boolean =>
      installedGwc(["check", "a.yaml"], { cwd: workspace.folder, env }).stdout.includes("\u001b[");
    expect(colored({})).toBe(false);
    expect(colored({ FORCE_COLOR: "1" })).toBe(true);
    expect(colored({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
  });

  it("under GitHub Actions mistakes become annotations, unless a format is asked for", async () => {
    const workspace = new Workspace({ "a.yaml": bad });
    const situation = { cwd: workspace.folder, env: { GITHUB_ACTIONS: "true" } };
    expect((await gwc(["check", "a.yaml"], situation)).stdout).toBe(
      "::error file=a.yaml,line=3,endLine=3,col=11,endColumn=16,title=gwc out-of-range::" +
        '"port" must be at most 65535\n' +
        "::error file=a.yaml,line=6,endLine=6,col=13,endColumn=16,title=gwc unknown-field::" +
        'routes[0] has no field "nam"%0Ahint: did you mean "name"?\n',
    );
    expect((await gwc(["check", "a.yaml", "--format", "text"], situation)).stdout).toMatch(
      /^error\[/,
    );
  });

  it("json, sarif and junit carry the same mistakes", async () => {
    const workspace = new Workspace({ "a.yaml": bad });
    const said = async (format: string): Promise<string> =>
      (await gwc(["check", "a.yaml", "--format", format], { cwd: workspace.folder })).stdout;
    expect(JSON.parse(await said("json"))).toMatchObject({
      version: 1,
      files: ["a.yaml"],
      errors: 2,
      diagnostics: [
        { code: "out-of-range", file: "a.yaml", line: 3, column: 11, endLine: 3, endColumn: 16 },
        { code: "unknown-field", severity: "error", hint: 'did you mean "name"?' },
      ],
    });
    expect(JSON.parse(await said("sarif"))).toMatchObject({
      version: "2.1.0",
      runs: [{ results: [{ ruleId: "out-of-range", ruleIndex: 0 }, { ruleId: "unknown-field" }] }],
    });
    expect(await said("junit")).toContain('<testsuites name="gwc check" tests="2" failures="2">');
  });
});
