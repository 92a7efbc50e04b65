import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { STAND_INS } from "../../compiler/inspect/tests/trial-program.ts";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { Workspace } from "../harness/workspace.ts";
import { config, one } from "./tested-gateway.ts";

describe("gwc test", () => {
  const files = {
    "gateway.yaml": config,
    "a.test.yaml": one("request: GET http://a/shop", "status: 200"),
    "b.test.yaml": one("request: GET http://a/shop", "status: 201"),
  };

  it("runs the tests next to the configuration, reports failures with their places, and exits with 1", () => {
    const { code, stdout, stderr } = installedGwc(["test"], { cwd: new Workspace(files).folder });
    expect(code).toBe(1);
    expect(stderr).toBe("a.test.yaml, b.test.yaml: 1 passed, 1 failed\n");
    expect(stdout).toContain('error[unmet-expectation]: "one": the status is 200, expected 201');
    expect(stdout).toContain("b.test.yaml:3:64");
    expect(stdout).toContain(
      "hint: route shop responded 200, http://shop.internal:8080 was called",
    );
  });

  it("exits with 0 when all pass, and lists what no test covers", async () => {
    const { folder } = new Workspace(files);
    const { code, stdout } = await gwc(["test", "a.test.yaml", "--coverage"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain("covered: 1 of 8 routes, 5 of 15 policies, 1 of 7 rules\n");
    expect(stdout).toContain("not covered  route moved\n               at gateway.yaml:44:13");
    expect(stdout).toContain('not covered  rule deny: mcp.tool.name == "drop"');
    expect(stdout).not.toContain("rule request.method");
  });

  it("writes every test to JUnit, and failures as annotations of GitHub", async () => {
    const { folder } = new Workspace(files);
    const junit = await gwc(["test", "--format", "junit"], { cwd: folder });
    expect(junit.stdout).toContain('<testsuites name="gwc test" tests="2" failures="1">');
    expect(junit.stdout).toContain('<testcase classname="a.test.yaml" name="one" line="3"/>');
    expect(junit.stdout).toContain('<failure type="unmet-expectation"');
    const annotated = await gwc(["test"], { cwd: folder, env: { GITHUB_ACTIONS: "true" } });
    expect(annotated.stdout).toMatch(/^::error file=b\.test\.yaml,line=3,/);
  });

  it("without tests exits with 2, and with tests that can't be read with 1", async () => {
    const { folder } = new Workspace({ "gateway.yaml": config, "broken.yaml": "tests: [" });
    expect((await gwc(["test"], { cwd: folder })).stderr).toContain(
      "no *.test.yaml next to gateway.yaml",
    );
    expect((await gwc(["test"], { cwd: folder })).code).toBe(2);
    const broken = await gwc(["test", "broken.yaml"], { cwd: folder });
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain("error[yaml-syntax]");
  });

  it("tests next to manifests are not read as manifests", async () => {
    const folder = "examples/cluster-mcp";
    const { code, stderr } = await gwc(["check", folder]);
    expect(stderr).toContain("valid");
    expect(code).toBe(0);
    const tested = await gwc(["test", "-f", folder]);
    expect(tested.stdout).toBe("");
    expect(tested.code).toBe(0);
  });
});

describe("what stands in for the world", () => {
  it.each(Object.entries(STAND_INS))("has all that %s has", async (real, standIn) => {
    const names = async (file: string) =>
      Object.keys(await import(path.join(root, "runtime", file)));
    const own = await names(`trial/stubs/${standIn}`);
    expect(own).toEqual(expect.arrayContaining(await names(real)));
  });
});

describe("the examples", async () => {
  const files = globSync("examples/*/*.test.yaml", { cwd: root });
  const schema = JSON.parse((await gwc(["schema", "--tests"])).stdout);
  const validate = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  }).compile(schema);

  it.each(files)(
    "%s passes, touches every rule, and is as the schema for editors says",
    async (file) => {
      const config = path.join(path.dirname(file), "gateway.yaml");
      const { code, stdout } = await gwc(["test", "-f", config, file, "--coverage"]);
      expect(stdout).not.toContain("no test touches  rule");
      expect(code).toBe(0);
      expect(validate(parse(readFileSync(path.join(root, file), "utf8")))).toBe(true);
    },
  );
});
