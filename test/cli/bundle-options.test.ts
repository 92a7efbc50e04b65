import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { compileFile } from "../harness/compile-file.ts";
import { Workspace } from "../harness/workspace.ts";

const CONFIG = `
binds:
  - port: 1
    listeners:
      - protocol: HTTPS
        tls: { cert: tls/cert.pem, key: tls/key.pem }
        routes:
          - policies: { apiKey: { keys: [{ key: "\${CI_KEY}" }] } }
            backends: [{ host: "127.0.0.1:9" }]
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe("a bundle answers its command line and exits", () => {
  let bundle: string;
  beforeAll(async () => {
    const workspace = new Workspace({ "gateway.yaml": CONFIG });
    const { files } = await compileFile(workspace.path("gateway.yaml"), { name: "edge" });
    bundle = files.find(({ path }) => path === "gateway.mjs")?.text ?? "";
  });

  /** Runs the bundle in a folder of its own with these files. */
  function run(
    options: readonly string[],
    env: Readonly<Record<string, string>> = {},
    files: Readonly<Record<string, string>> = {},
  ): Promise<Ended> {
    const workspace = new Workspace({ ...files, "gateway.mjs": bundle });
    const place = { cwd: workspace.folder, env, timeout: 240_000 };
    return new Promise((resolve) => {
      execFile(process.execPath, ["gateway.mjs", ...options], place, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  it("--version and --help need no environment", async () => {
    const version = await run(["--version"]);
    expect(version).toMatchObject({ code: 0, stderr: "" });
    expect(version.stdout).toMatch(/^gwc \S+, configuration [0-9a-f]{12}\n$/);
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Usage: node gateway.mjs [--check | --version | --help]");
    expect(Math.max(...help.stdout.split("\n").map(({ length }) => length))).toBeLessThan(81);
  });

  it("an unknown option starts nothing", async () => {
    const hint = "hint: see --help\n";
    const code = 2;
    expect(await run(["--prot", "80"])).toEqual({
      code,
      stdout: "",
      stderr: `error: unknown option "--prot"\n${hint}`,
    });
    expect(await run(["--check", "now"])).toMatchObject({ code, stdout: "" });
  });

  it("--check reports what is missing, and what is unusable", async () => {
    const missing = await run(["--check"]);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("the environment variable CI_KEY is not set");
    expect(missing.stderr).toMatch(/there is no file \S*tls\/cert\.pem/);
    const unusable = await run(
      ["--check"],
      { CI_KEY: "a-key-of-the-pipeline", STATS_ADDR: "here" },
      { "tls/cert.pem": "no certificate", "tls/key.pem": "no key" },
    );
    expect(unusable).toMatchObject({ code: 1, stdout: "" });
    expect(unusable.stderr).toContain('the stats address must be HOST:PORT or off, not "here"');
  });

  it("--check of a complete environment opens no port", async () => {
    const workspace = new Workspace();
    makeCertificate(workspace.folder, "edge", { names: "DNS:localhost" });
    const text = (name: string) => readFileSync(workspace.path(name), "utf8");
    const env = { CI_KEY: "a-key-of-the-pipeline", STATS_ADDR: ":1", READINESS_ADDR: ":1" };
    const files = { "tls/cert.pem": text("edge.pem"), "tls/key.pem": text("edge.key") };
    expect(await run(["--check"], env, files)).toEqual({
      code: 0,
      stdout: "edge can start: its environment and files are complete\n",
      stderr: "",
    });
    expect((await run(["--check"], env, { ...files, "tls/key.pem": "no key" })).code).toBe(1);
  });
});
