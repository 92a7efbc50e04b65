import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { customResourceDefinitions } from "../../compiler/1-parse/kubernetes/crd.ts";
import { editorSchema } from "../../compiler/1-parse/standalone/editor.ts";
import { definitionsText } from "../../compiler/commands/schema.ts";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const gateway = `# ports
gateways:
  default:
    port: 3000
    colour: blue
routes:
  # the shop
  - name: shop
    policies:
      localRateLimit: [{ requests: 10, unit: Fortnights }]
      timeout: { requestTimeout: 10s }
    backends: [{ host: "127.0.0.1:8080", weight: 70000 }]
`;

/** Runs `gwc upgrade` with these files. */
async function upgraded(files: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  const workspace = new Workspace(files);
  const result = await gwc(["upgrade", ...argv], { cwd: workspace.folder });
  return { ...result, read: (file: string) => readFileSync(workspace.path(file), "utf8") };
}

const PRESENT = JSON.stringify(editorSchema());

/** The schema of this version with edits of its text, as an earlier version could have had it. */
function earlier(...edits: readonly (readonly [from: string, to: string])[]): string {
  return edits.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replaceAll(from, to);
  }, PRESENT);
}

const before = earlier(
  [
    '"listeners":{"description":"Listeners of the port,',
    '"colour":{"type":"string"},"listeners":{"description":"Listeners of the port,',
  ],
  ['"Seconds","Minutes"', '"Fortnights","Seconds","Minutes"'],
);

describe("gwc upgrade --from", () => {
  it("names the places of a file that this version refuses", async () => {
    const { code, stdout } = await upgraded(
      { "gateway.yaml": gateway, "before.json": before },
      "--from",
      "before.json",
    );
    expect(stdout).toBe(
      "gateway.yaml:5:5 gateways.default.colour: removed\n" +
        'gateway.yaml:10:40 routes[0].policies.localRateLimit[0].unit: no longer accepts "Fortnights"\n',
    );
    expect(code).toBe(1);
  });

  it("names the places where a default has changed, unless the field is set", async () => {
    const schema = earlier(['"default":"requests"', '"default":"tokens"']);
    const file = (limit: string) =>
      `routes: [{ policies: { localRateLimit: [${limit}] }, backends: [{ host: "a:1" }] }]\ngateways: { default: { port: 1 } }\n`;
    const run = (limit: string) =>
      upgraded({ "gateway.yaml": file(limit), "before.json": schema }, "--from", "before.json");
    const bucket = "maxTokens: 5, tokensPerFill: 5, fillInterval: 1s";
    expect((await run(`{ ${bucket} }`)).stdout).toContain(
      '.localRateLimit[0].type: the default is "requests", was "tokens"\n',
    );
    expect(await run(`{ ${bucket}, type: requests }`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^nothing to do for gwc \d/),
    });
  });

  it("accepts the schema of this version without a difference", async () => {
    const files = { "before.json": earlier() };
    expect(await upgraded(files, "--from", "before.json", "--all")).toMatchObject({
      code: 0,
      stdout: "no field changed\n",
    });
  });

  it("lists the differences for the notes of a release, first those that may need an edit", async () => {
    const { stdout } = await upgraded({ "before.json": before }, "--from", "before.json", "--all");
    expect(stdout).toMatch(/^### Fields that may need an edit\n\n- /);
    expect(stdout).toContain("- `gateways.*.colour` of gateway.yaml: removed\n");
  });

  it("compares the words of a pattern, so that more of them need no edit", async () => {
    const fewer = { "before.json": earlier(["|anthropic|", "|"]) };
    const { stdout } = await upgraded(fewer, "--from", "before.json", "--all");
    expect(stdout).toContain('`llm.models[].provider` of gateway.yaml: also accepts "anthropic"\n');
    expect(stdout).not.toContain("may need an edit");
  });

  it("compares manifests with the definitions of an earlier version", async () => {
    const crds = customResourceDefinitions().map((each) =>
      JSON.stringify(each).replace('"traffic":{', '"colour":{"type":"string"},"traffic":{'),
    );
    const policy =
      "apiVersion: gwc.dev/v1alpha1\nkind: GatewayPolicy\nmetadata: { name: a }\nspec:\n  colour: blue\n";
    const files = { "policy.yaml": policy, "crds.yaml": crds.join("\n---\n") };
    const { code, stdout } = await upgraded(files, "policy.yaml", "--from", "crds.yaml");
    expect([code, stdout]).toEqual([1, "policy.yaml:5:3 spec.colour: removed\n"]);
  });

  it("reads the definitions that it prints", async () => {
    const files = { "crds.yaml": await definitionsText() };
    expect(await upgraded(files, "--from", "crds.yaml", "--all")).toMatchObject({
      code: 0,
      stdout: "no field changed\n",
    });
  });

  it.each([
    ["no such file", {}, "before.json cannot be read"],
    ["no schema", { "before.json": "[1]" }, "before.json is neither the output of `gwc schema`"],
    ["no YAML", { "before.json": "{a: [" }, "before.json is not a JSON schema"],
  ])("refuses %s", async (_, files, reason) => {
    const { code, stderr } = await upgraded(
      { "gateway.yaml": gateway, ...files },
      "--from",
      "before.json",
    );
    expect(stderr).toContain(`error: ${reason}`);
    expect(code).toBe(2);
  });
});

describe("gwc upgrade --write", () => {
  it("rewrites an older form as the same gateway, with its comments", async () => {
    const { code, stdout, read } = await upgraded({ "gateway.yaml": BINDS }, "--write");
    expect([code, stdout]).toEqual([0, "gateway.yaml: rewritten as gateways\n"]);
    const text = read("gateway.yaml");
    expect(text).toMatch(/^# the gateway\ngateways:\n/);
    const both = { "gateway.yaml": text, "before.yaml": BINDS };
    const workspace = new Workspace(both);
    const { stdout: differences } = await gwc(["diff", "before.yaml", "gateway.yaml"], {
      cwd: workspace.folder,
    });
    expect(differences).toBe("no request is treated differently\n");
  });

  it("reports an older form without --write and leaves the file", async () => {
    const { code, stdout, read } = await upgraded({ "gateway.yaml": BINDS });
    expect([code, stdout]).toEqual([
      0,
      "gateway.yaml: an older form; `gwc upgrade --write` rewrites it as gateways\n",
    ]);
    expect(read("gateway.yaml")).toBe(BINDS);
  });

  it("leaves a file in the present form as it is", async () => {
    const present = gateway.replace("    colour: blue\n", "").replace("Fortnights", "Minutes");
    const { stdout, read } = await upgraded({ "gateway.yaml": present }, "--write");
    expect(stdout).toMatch(/^nothing to do/);
    expect(read("gateway.yaml")).toBe(present);
  });
});

const BINDS = `# the gateway
binds:
  - port: 3000
    listeners:
      - routes:
          # the shop
          - name: shop
            backends: [{ host: "127.0.0.1:8080" }]
`;
