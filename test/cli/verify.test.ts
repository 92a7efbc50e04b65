import { readFileSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const gateway = `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            policies:
              jwtAuth: {issuer: "https://id.example.com", audiences: [tools], jwks: {url: "https://id.example.com/keys"}}
              authorization: {rules: ['jwt.sub == "ann"']}
            backends: [{host: "127.0.0.1:9"}]
`;

async function built(): Promise<Workspace> {
  const workspace = new Workspace({ "gateway.yaml": gateway });
  await gwc(["build", "--no-type-check"], { cwd: workspace.folder });
  return workspace;
}

it("a bundle and its configuration verify as the same bytes, moved or not", async () => {
  const workspace = await built();
  const bundle = readFileSync(workspace.path("out/gateway/gateway.mjs"), "utf8");
  workspace.write("deployed.mjs", bundle);
  const run = (...argv: readonly string[]) => gwc(["verify", ...argv], { cwd: workspace.folder });
  expect(await run("out/gateway")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^the same bytes: \d+ files in out\/gateway and what gateway\.yaml builds \(sha256 [0-9a-f]{64}/,
    ),
  });
  expect(await run("deployed.mjs", "gateway.yaml")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the same bytes: deployed\.mjs and/),
  });
});

it("an edited bundle or configuration is reported with the parts that differ", async () => {
  const workspace = await built();
  const run = () => installedGwc(["verify", "out/gateway"], { cwd: workspace.folder });
  const file = "out/gateway/gateway.mjs";
  const bundle = readFileSync(workspace.path(file), "utf8");
  workspace.write(file, bundle.replace('"ann"', '"eve"'));
  expect(run()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^not the same: .*\n {2}gateway\.mjs: routes\/tools\.ts differs\n$/,
    ),
  });
  workspace.write(file, bundle);
  workspace.write("gateway.yaml", gateway.replace("127.0.0.1", "127.0.0.2"));
  expect(run().stdout).toContain("\n  gateway.mjs: routes/tools.ts differs\n");
});

it("a file of a bundle that differs, is missing or is left over is reported by its name", async () => {
  const workspace = await built();
  const at = (name: string) => workspace.path(`out/gateway/${name}`);
  const other = (name: string, from: string, to: string) =>
    workspace.write(`out/gateway/${name}`, readFileSync(at(name), "utf8").replace(from, to));
  const differing = async () => {
    const { code, stdout } = await gwc(["verify", "out/gateway"], { cwd: workspace.folder });
    const [first, ...lines] = stdout.trimEnd().split("\n  ");
    expect([code, first]).toEqual([1, "not the same: out/gateway and what gateway.yaml builds"]);
    return lines;
  };
  other("manifest.json", '"ann', '"eve');
  expect(await differing()).toEqual(["manifest.json differs"]);
  other("gateway.cdx.json", "MIT", "ISC");
  other("routes/tools.ts", '"ann"', '"eve"');
  rmSync(at("modules.json"));
  workspace.write("out/gateway/old.ts", "");
  other("manifest.json", '"Dockerfile"', '"old.ts", "Dockerfile"');
  expect(await differing()).toEqual([
    "gateway.cdx.json differs",
    "manifest.json differs",
    "modules.json is missing",
    "old.ts is left over",
    "routes/tools.ts differs",
  ]);
});

it("says that there is no bundle, and that the configuration has mistakes", async () => {
  const workspace = await built();
  const run = (...argv: readonly string[]) => gwc(["verify", ...argv], { cwd: workspace.folder });
  expect(await run("nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no bundle "nothing"'),
  });
  workspace.write("gateway.yaml", "binds: 5\n");
  expect((await run("out/gateway")).code).toBe(1);
});

it("the manifest says what is served, to whom and from where; the bill of materials names the packages", async () => {
  const workspace = await built();
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(workspace.path(`out/gateway/${name}`), "utf8"));
  expect(read("manifest.json")).toMatchObject({
    listeners: [{ port: 3000, protocol: "http", hostname: "*" }],
    routes: [
      {
        name: "tools",
        matches: ["path prefix /"],
        identities: [{ variable: "jwt", isRequired: true }],
        rules: [{ about: "request", action: "allow", expression: 'jwt.sub == "ann"' }],
        backends: "http://127.0.0.1:9",
      },
    ],
    ports: { clients: [3000] },
  });
  const jose = expect.objectContaining({
    name: "jose",
    purl: expect.stringMatching(/^pkg:npm\/jose@\d/),
    licenses: [{ expression: "MIT" }],
  });
  expect(read("gateway.cdx.json")).toMatchObject({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    components: expect.arrayContaining([jose]),
  });
});
