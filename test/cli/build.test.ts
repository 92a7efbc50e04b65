import { randomBytes } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { Workspace } from "../harness/workspace.ts";
import { gatewayText } from "./gateway-text.ts";

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

/** Files of each build besides its routes. */
const EVERY_BUILD = [
  "Dockerfile",
  "gateway.cdx.json",
  "gateway.mjs",
  "main.ts",
  "manifest.json",
  "modules.json",
];

describe("gwc build", () => {
  it("writes the gateway under out/, called after its file, and ends with a table", () => {
    const workspace = new Workspace({ "shop/gateway.yaml": text });
    const { code, stdout, stderr } = installedGwc(["build", "shop/gateway.yaml"], {
      cwd: workspace.folder,
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^out\/gateway\n {2}routes +1 {2}api\n {2}policies +1 {2}cors\n {2}modules +2 {2}plus \d+ of the runtime\n {2}bundle +[\d.]+ [kM]B {2}node out\/gateway\/gateway\.mjs\n$/,
    );
    expect(filesOf(workspace.path("out/gateway"))).toEqual([...EVERY_BUILD, "routes/api.ts"]);
  });

  it("a folder's name is in no byte of the output", async () => {
    const workspace = new Workspace({ "folder-of-mine/gateway.yaml": text });
    const situation = { cwd: workspace.path("folder-of-mine") };
    expect((await gwc(["build", "--no-type-check"], situation)).code).toBe(0);
    const folder = workspace.path("folder-of-mine/out/gateway");
    for (const file of filesOf(folder))
      expect(readFileSync(`${folder}/${file}`, "utf8")).not.toContain("folder-of-mine");
  });

  it("`name` in the configuration names the gateway and its output", async () => {
    const workspace = new Workspace({ "gateway.yaml": `name: shop\n${text}` });
    const situation = { cwd: workspace.folder };
    expect((await gwc(["build", "--no-type-check"], situation)).stdout).toMatch(/^out\/shop\n/);
    expect(readFileSync(workspace.path("out/shop/main.ts"), "utf8")).toContain('name: "shop"');
  });

  it.each(["../up", "a/b", "with space", ".hidden", ""])("%j is no name", async (name) => {
    const workspace = new Workspace({ "gateway.yaml": `name: ${JSON.stringify(name)}\n${text}` });
    const { code, stderr } = await gwc(["build"], { cwd: workspace.folder });
    expect(code).toBe(1);
    expect(stderr).toContain("gateway.yaml:1:7");
  });

  it("a Gateway of manifests is called by its own name, wherever they lie", async () => {
    const workspace = new Workspace({
      "manifests/all.yaml": readFileSync(`${root}/examples/cluster-basic/gateway.yaml`, "utf8"),
    });
    const { stdout } = await gwc(["build", "manifests", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(stdout).toMatch(/^out\/proxy\n/);
  });

  it("a bundle that no ConfigMap can carry needs an image", async () => {
    const models = (count: number) =>
      Array.from({ length: count }, (_, index) => `models-${index}`);
    // One resource is bounded, too.
    const prompt = () => randomBytes(150_000).toString("base64");
    const workspace = new Workspace({
      "all.yaml": `${readFileSync(`${root}/examples/cluster-basic/gateway.yaml`, "utf8")}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: chat, namespace: gateways }
spec:
  parentRefs: [{ name: proxy }]
  rules:
${models(10)
  .map(
    (name) => `
    - matches: [{ path: { value: /${name} } }]
      backendRefs: [{ group: gwc.dev, kind: GatewayBackend, name: ${name} }]`,
  )
  .join("")}
${models(10)
  .map(
    (name) => `
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: { name: ${name}, namespace: gateways }
spec:
  ai: { provider: { openai: {} } }
  policies: { ai: { prompt: { prepend: [{ role: SYSTEM, content: ${prompt()} }] } } }
`,
  )
  .join("")}`,
    });
    const at = { cwd: workspace.folder };
    const { code, stdout, stderr } = await gwc(["build", "all.yaml", "--no-type-check"], at);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error\[bundle-too-large\]: the compressed bundle has \d+ KiB, but a ConfigMap holds at most 1024/m,
    );
    const image = ["build", "all.yaml", "--no-type-check", "--image", "registry.test/proxy:1"];
    expect((await gwc(image, at)).code).toBe(0);
  });

  it("another file name names the output, and -o overrules it", async () => {
    const workspace = new Workspace({ "shop.yaml": text });
    const situation = { cwd: workspace.folder };
    expect((await gwc(["build", "shop.yaml", "--no-type-check"], situation)).stdout).toMatch(
      /^out\/shop\n/,
    );
    await gwc(["build", "shop.yaml", "--no-type-check", "-o", "there"], situation);
    expect(existsSync(workspace.path("there/main.ts"))).toBe(true);
  });

  it("removes what it wrote before and no longer needs, and leaves other files alone", async () => {
    const workspace = new Workspace({ "a.yaml": text });
    const build = () =>
      gwc(["build", "a.yaml", "-o", "out", "--no-type-check"], { cwd: workspace.folder });
    await build();
    workspace.write("out/notes.txt", "mine");
    workspace.write("a.yaml", text.replace("name: api", "name: shop"));
    expect((await build()).code).toBe(0);
    expect(filesOf(workspace.path("out"))).toEqual([...EVERY_BUILD, "notes.txt", "routes/shop.ts"]);
  });

  it("refuses to overwrite a file of the user, and then writes nothing at all", async () => {
    const workspace = new Workspace({ "a.yaml": text, "out/main.ts": "export const mine = 1;\n" });
    const { code, stderr } = await gwc(["build", "a.yaml", "-o", "out", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: "main.ts" in out was not written by gwc; nothing was changed\n' +
        "hint: build into another folder (-o DIR), or move these files away\n",
    );
    expect(filesOf(workspace.path("out"))).toEqual(["main.ts"]);
  });

  it("reports output that can't be written", async () => {
    const workspace = new Workspace({ "a.yaml": text, out: "a file" });
    const { code, stderr } = await gwc(["build", "a.yaml", "-o", "out/deep", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(code).toBe(1);
    expect(stderr).toBe("error: out/deep cannot be written: a part of its path is not a folder\n");
  });

  it("a mistake is reported on stderr and nothing is written", async () => {
    const workspace = new Workspace({ "a.yaml": text.replace("cors", "corss") });
    const { code, stdout, stderr } = await gwc(["build", "a.yaml"], { cwd: workspace.folder });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('error[unknown-field]: policies has no field "corss"');
    expect(existsSync(workspace.path("out"))).toBe(false);
  });

  it("--print program shows the resolved program and writes nothing", async () => {
    const workspace = new Workspace({ "a.yaml": text });
    const { stdout } = await gwc(["build", "a.yaml", "--print", "program"], {
      cwd: workspace.folder,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      name: "a",
      binds: [{ port: 3000, listeners: [{ routes: [{ name: "api" }] }] }],
    });
    expect(existsSync(workspace.path("out"))).toBe(false);
  });

  it("--print program shows expressions that need constants", async () => {
    const route = {
      policies: {
        transformations: {
          request: { set: { "x-a": "['a', 'b'].map(each, each + 'c').join('')" } },
        },
      },
      backends: [{ host: "127.0.0.1:1" }],
    };
    const config = JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes: [route] }] }] });
    const { folder: cwd } = new Workspace({ "a.yaml": config });
    const { code, stdout } = await gwc(["build", "a.yaml", "--print", "program"], { cwd });
    expect([code, JSON.stringify(JSON.parse(stdout))]).toEqual([0, expect.stringContaining("x-a")]);
  });

  it.each([
    ["path", "// a.yaml routes[api].policies.cors\n"],
    ["line", "// a.yaml routes[api].policies.cors (line 7)\n"],
  ])("--trace %s says where a policy comes from", async (level, comment) => {
    const workspace = new Workspace({ "a.yaml": text });
    await gwc(["build", "a.yaml", "-o", "out", "--no-type-check", "--trace", level], {
      cwd: workspace.folder,
    });
    expect(readFileSync(workspace.path("out/routes/api.ts"), "utf8")).toContain(comment);
  });
});

describe("a server over stdio in the image", () => {
  const target = (name: string, stdio: string) => `{name: ${name}, stdio: ${stdio}}`;
  const gateway = (...targets: string[]) =>
    `binds: [{port: 3000, listeners: [{routes: [{backends: [{mcp: {targets: [${targets.join(", ")}]}}]}]}]}]\n`;

  it("has a home that it may write to, and the commands that are known", async () => {
    const workspace = new Workspace({
      "gateway.yaml": gateway(
        target("a", '{cmd: npx, args: ["-y", "server@1.2.3"]}'),
        target("b", '{cmd: uvx, args: ["server@1.2.3"]}'),
      ),
    });
    const { code, stderr } = await gwc(["build", "--no-type-check"], { cwd: workspace.folder });
    expect([code, stderr]).toEqual([0, ""]);
    const text = readFileSync(workspace.path("out/gateway/Dockerfile"), "utf8");
    expect(text).toMatch(/^ENV NODE_ENV=production TZ=UTC PATH=\S+ HOME=\/tmp$/m);
    expect(text).toMatch(/^COPY --from=uv \/uv \/uvx \/usr\/local\/bin\/$/m);
    expect(text).toMatch(/^ARG UV=\S+:[\d.]+\nFROM \$\{UV\} AS uv$/m);
    expect(text.indexOf("python3")).toBeGreaterThan(0);
  });

  it("whose command or script the image has not is warned of, and built all the same", async () => {
    const workspace = new Workspace({
      "gateway.yaml": gateway(
        target("a", "{cmd: docker, args: [run, -i, server]}"),
        target("b", "{cmd: node, args: [./server.mjs]}"),
      ),
    });
    const { code, stderr } = await gwc(["build", "--strict", "--no-type-check"], {
      cwd: workspace.folder,
    });
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning[not-in-image]: the image of the generated Dockerfile does not contain "docker"',
    );
    expect(stderr).toContain('does not contain "./server.mjs"');
    expect(await gwc(["check"], { cwd: workspace.folder })).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("gwc build --check", () => {
  it("passes when the output is what the configuration says, and then nothing is written", async () => {
    const workspace = new Workspace({ "gateway.yaml": text });
    const situation = { cwd: workspace.folder };
    await gwc(["build"], situation);
    expect(await gwc(["build", "--check"], situation)).toEqual({
      code: 0,
      stdout: "out/gateway: up to date\n",
      stderr: "",
    });
    rmSync(workspace.path("out/gateway/gateway.mjs"));
    expect((await gwc(["build", "--check"], situation)).code).toBe(0);
    expect(existsSync(workspace.path("out/gateway/gateway.mjs"))).toBe(false);
  });

  it("names every file that differs, is missing or is left over, exits with 1 and writes nothing", async () => {
    const workspace = new Workspace({ "gateway.yaml": text });
    const situation = { cwd: workspace.folder };
    await gwc(["build", "--no-type-check"], situation);
    workspace.write("gateway.yaml", text.replace("name: api", "name: shop"));
    const { code, stdout, stderr } = await gwc(["build", "--check", "--no-type-check"], situation);
    expect([code, stdout.split("\n")]).toEqual([
      1,
      [
        "out/gateway/gateway.cdx.json: differs",
        "out/gateway/gateway.mjs: differs",
        "out/gateway/main.ts: differs",
        "out/gateway/manifest.json: differs",
        "out/gateway/modules.json: differs",
        "out/gateway/routes/api.ts: left over",
        "out/gateway/routes/shop.ts: missing",
        "",
      ],
    ]);
    expect(stderr).toBe("hint: run `gwc build` with the same options to update the output\n");
    expect(existsSync(workspace.path("out/gateway/routes/shop.ts"))).toBe(false);
  });
});

describe("without a file", () => {
  it.each(["build", "check", "run"])(
    "`gwc %s` says what to do in an empty folder",
    async (command) => {
      const workspace = new Workspace();
      const { code, stdout, stderr } = await gwc([command], { cwd: workspace.folder });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(
        "error: there is no gateway.yaml in this folder\n" +
          `hint: create one with \`gwc init\`, or name a file: \`gwc ${command} FILE\`\n`,
      );
    },
  );

  it("`gwc check` takes gateway.yaml of this folder", async () => {
    const workspace = new Workspace({ "gateway.yaml": text });
    const { code, stderr } = await gwc(["check"], { cwd: workspace.folder });
    expect([code, stderr]).toEqual([0, "gateway.yaml: valid, 1 route, 1 policy\n"]);
  });
});

describe("a folder as input", () => {
  it("is read without what gwc wrote there, schemas, packages and other tools' files", async () => {
    const workspace = new Workspace({
      "gateway.yaml": text,
      "package.json": "{}",
      ".github/workflows/ci.yaml": "on: push",
      "node_modules/x/binds.yaml": text,
    });
    const situation = { cwd: workspace.folder };
    await gwc(["build", "--no-type-check"], situation);
    workspace.write("gateway.schema.json", (await gwc(["schema"])).stdout);
    expect(await gwc(["check", "."], situation)).toMatchObject({
      code: 0,
      stderr: ".: valid, 1 route, 1 policy\n",
    });
  });

  it("of manifests is read without the manifests of the last build", async () => {
    const manifests = readFileSync(`${root}/examples/cluster-basic/gateway.yaml`, "utf8");
    const workspace = new Workspace({ "gateway.yaml": manifests });
    const situation = { cwd: workspace.folder };
    await gwc(["build", "--no-type-check"], situation);
    expect(existsSync(workspace.path("out/proxy/kubernetes/deployment.yaml"))).toBe(true);
    expect(await gwc(["check", "."], situation)).toMatchObject({ code: 0, stdout: "" });
  });

  it("reports a missing configuration", async () => {
    const workspace = new Workspace({ "notes.txt": "" });
    const { code, stdout } = await gwc(["check", "."], { cwd: workspace.folder });
    expect(code).toBe(1);
    expect(stdout).toContain('error[no-input]: there is no configuration in "."');
  });
});

describe("gwc init", () => {
  it("writes one small file that passes its own check", async () => {
    const workspace = new Workspace();
    const situation = { cwd: workspace.folder };
    expect(installedGwc(["init"], situation)).toMatchObject({ code: 0, stdout: "gateway.yaml\n" });
    expect(filesOf(workspace.folder)).toEqual(["gateway.yaml"]);
    expect(readFileSync(workspace.path("gateway.yaml")).length).toBeLessThan(2000);
    expect((await gwc(["check", "--strict"], situation)).code).toBe(0);
  });

  it("with --schema writes the schema that it names next to it", async () => {
    const workspace = new Workspace();
    const situation = { cwd: workspace.folder };
    const { code, stdout } = await gwc(["init", "--schema"], situation);
    expect([code, stdout]).toEqual([0, "gateway.yaml\ngateway.schema.json\n"]);
    expect((await gwc(["check", "--strict", "gateway.yaml"], situation)).code).toBe(0);
    const [first] = readFileSync(workspace.path("gateway.yaml"), "utf8").split("\n");
    expect(first).toBe("# yaml-language-server: $schema=gateway.schema.json");
    expect(readFileSync(workspace.path("gateway.schema.json"), "utf8")).toBe(
      installedGwc(["schema"]).stdout,
    );
  });

  it("leaves an existing file alone", async () => {
    const workspace = new Workspace({ "gateway.yaml": "mine" });
    const { code, stderr } = await gwc(["init"], { cwd: workspace.folder });
    expect([code, stderr]).toEqual([
      1,
      'error: "gateway.yaml" already exists; nothing was written\n',
    ]);
    expect(filesOf(workspace.folder)).toEqual(["gateway.yaml"]);
  });
});
