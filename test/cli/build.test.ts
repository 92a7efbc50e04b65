import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gwc, Workspace } from "../harness/gwc.ts";
import { gatewayText } from "./configs.ts";

const text = gatewayText({
  upstream: 9,
  port: 3000,
  more: '            policies: {cors: {allowOrigins: ["*"]}}\n',
});

function filesOf(folder: string): string[] {
  return globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(folder.length)}/${entry.name}`.replace(/^\//, ""))
    .sort();
}

describe("gwc build", () => {
  it("writes the gateway under out/, called after the file's folder, and ends with a table", () => {
    using workspace = new Workspace({ "shop/gateway.yaml": text });
    const { code, stdout, stderr } = gwc(["build", "shop/gateway.yaml"], {
      cwd: workspace.folder,
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^out\/shop\n {2}routes +1 {2}api\n {2}policies +1 {2}cors\n {2}modules +2 {2}\d+ of the runtime with them\n {2}bundle +[\d.]+ [kM]B {2}node out\/shop\/gateway\.mjs\n$/,
    );
    expect(filesOf(workspace.path("out/shop"))).toEqual([
      "Dockerfile",
      "gateway.mjs",
      "main.ts",
      "manifest.json",
      "routes/api.ts",
    ]);
  });

  it("another file name names the output, and -o overrules it", () => {
    using workspace = new Workspace({ "shop.yaml": text });
    const situation = { cwd: workspace.folder };
    expect(gwc(["build", "shop.yaml", "--no-type-check"], situation).stdout).toMatch(
      /^out\/shop\n/,
    );
    gwc(["build", "shop.yaml", "--no-type-check", "-o", "there"], situation);
    expect(existsSync(workspace.path("there/main.ts"))).toBe(true);
  });

  it("removes what it wrote before and no longer needs, and leaves other files alone", () => {
    using workspace = new Workspace({ "a.yaml": text });
    const build = () =>
      gwc(["build", "a.yaml", "-o", "out", "--no-type-check"], { cwd: workspace.folder });
    build();
    workspace.write("out/notes.txt", "mine");
    workspace.write("a.yaml", text.replace("name: api", "name: shop"));
    expect(build().code).toBe(0);
    expect(filesOf(workspace.path("out"))).toEqual([
      "Dockerfile",
      "gateway.mjs",
      "main.ts",
      "manifest.json",
      "notes.txt",
      "routes/shop.ts",
    ]);
  });

  it("refuses to overwrite a file of the user, and then writes nothing at all", () => {
    using workspace = new Workspace({ "a.yaml": text, "out/main.ts": "export const mine = 1;\n" });
    const { code, stderr } = gwc(["build", "a.yaml", "-o", "out", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: "main.ts" in out was not written by gwc; nothing was changed\n' +
        "hint: build into another folder (-o DIR), or move what is there\n",
    );
    expect(filesOf(workspace.path("out"))).toEqual(["main.ts"]);
  });

  it("says so when the output can't be written", () => {
    using workspace = new Workspace({ "a.yaml": text, out: "a file" });
    const { code, stderr } = gwc(["build", "a.yaml", "-o", "out/deep", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(code).toBe(1);
    expect(stderr).toBe("error: out/deep can't be written: a part of its path is not a folder\n");
  });

  it("a mistake is reported on stderr and nothing is written", () => {
    using workspace = new Workspace({ "a.yaml": text.replace("cors", "corss") });
    const { code, stdout, stderr } = gwc(["build", "a.yaml"], { cwd: workspace.folder });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('error[unknown-field]: policies has no field "corss"');
    expect(existsSync(workspace.path("out"))).toBe(false);
  });

  it("--print program shows the resolved program and writes nothing", () => {
    using workspace = new Workspace({ "a.yaml": text });
    const { stdout } = gwc(["build", "a.yaml", "--print", "program"], { cwd: workspace.folder });
    expect(JSON.parse(stdout)).toMatchObject({
      name: "a",
      binds: [{ port: 3000, listeners: [{ routes: [{ name: "api" }] }] }],
    });
    expect(existsSync(workspace.path("out"))).toBe(false);
  });

  it.each([
    ["path", "// a.yaml binds[0].listeners[0].routes[0].policies.cors\n"],
    ["line", "// a.yaml binds[0].listeners[0].routes[0].policies.cors (line 7)\n"],
  ])("--trace %s says where a policy comes from", (level, comment) => {
    using workspace = new Workspace({ "a.yaml": text });
    gwc(["build", "a.yaml", "-o", "out", "--no-type-check", "--trace", level], {
      cwd: workspace.folder,
    });
    expect(readFileSync(workspace.path("out/routes/api.ts"), "utf8")).toContain(comment);
  });
});

describe("gwc init", () => {
  it("writes a configuration that passes its own check, and the schema that it names", () => {
    using workspace = new Workspace();
    const situation = { cwd: workspace.folder };
    const { code, stdout } = gwc(["init"], situation);
    expect([code, stdout]).toEqual([0, "gateway.yaml\ngateway.schema.json\n"]);
    expect(gwc(["check", "--strict", "gateway.yaml"], situation).code).toBe(0);
    const [first] = readFileSync(workspace.path("gateway.yaml"), "utf8").split("\n");
    expect(first).toBe("# yaml-language-server: $schema=gateway.schema.json");
    expect(readFileSync(workspace.path("gateway.schema.json"), "utf8")).toBe(
      gwc(["schema"]).stdout,
    );
  });

  it("leaves an existing file alone", () => {
    using workspace = new Workspace({ "gateway.yaml": "mine" });
    const { code, stderr } = gwc(["init"], { cwd: workspace.folder });
    expect([code, stderr]).toEqual([
      1,
      'error: "gateway.yaml" exists already; nothing was written\n',
    ]);
    expect(filesOf(workspace.folder)).toEqual(["gateway.yaml"]);
  });
});
