import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Echoed, startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { Gateway, startGateway } from "../harness/gateway.ts";
import { GwcProcess, gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

/** A credential in every place of a file that takes one. */
const secrets = {
  client: "client-key-3e5a1b",
  backend: "sk-backend-7c9d2f",
  header: "Bearer header-4e6a8b",
  stdio: "stdio-token-0c1d2e",
  argument: "stdio-argument-8d7e6f",
  option: "stdio-option-1f2e3d",
  line: "Bearer stdio-header-4c5b6a",
  aws: "aws-secret-9f8e7d",
  llm: "sk-llm-5b4a39",
  claude: "sk-ant-6c5d4e",
  safety: "safety-key-2a3b4c",
  traces: "Bearer traces-1a2b3c",
} as const;

let upstream = "127.0.0.1:1";
beforeAll(async () => {
  upstream = (await startEcho()).url;
});

function configuration(
  port: number,
  overrides: Partial<Record<keyof typeof secrets, string>> = {},
) {
  const own = { ...secrets, ...overrides };
  const at = (prefix: string) => [{ path: { pathPrefix: prefix } }];
  const env = { MY_TOKEN: own.stdio };
  const header = `Authorization: ${own.line}`;
  const named = [`--api-key=${own.argument}`, "--token", own.option, "--header", header];
  const args = [...named, "--max-tokens", "100", "--token-file=/etc/t", "--password", "--verbose"];
  const routes = [
    {
      name: "web",
      matches: at("/web"),
      policies: {
        apiKey: { keys: [{ key: own.client, metadata: {} }] },
        requestHeaderModifier: { set: { "x-api-key": own.header } },
        backendAuth: { key: own.backend },
      },
      backends: [{ host: upstream }],
    },
    {
      name: "signed",
      matches: at("/signed"),
      policies: {
        backendAuth: {
          aws: { accessKeyId: "AKIA", secretAccessKey: own.aws, region: "a", service: "s3" },
        },
      },
      backends: [{ host: upstream }],
    },
    {
      name: "tools",
      matches: at("/mcp"),
      backends: [{ mcp: { targets: [{ name: "a", stdio: { cmd: "true", args, env } }] } }],
    },
  ];
  const azureContentSafety = {
    endpoint: "a.cognitiveservices.azure.com",
    policies: { backendAuth: { key: own.safety } },
  };
  return {
    config: {
      tracing: { otlpEndpoint: upstream, headers: { authorization: own.traces } },
    },
    binds: [{ port, listeners: [{ routes }] }],
    llm: {
      port: port + 1,
      models: [
        { name: "*", provider: "openAI", params: { apiKey: own.llm } },
        // Its key has a header of its own.
        { name: "claude-*", provider: "anthropic", params: { apiKey: own.claude } },
      ],
      policies: { ai: { promptGuard: { request: [{ azureContentSafety }] } } },
    },
  };
}

function writtenIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => path.join(folder, name)).filter((at) => statSync(at).isFile());
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

async function get(port: number, key: string): Promise<Echoed & { readonly status: number }> {
  const authorization = `Bearer ${key}`;
  const response = await fetch(`http://127.0.0.1:${port}/web`, { headers: { authorization } });
  const text = await response.text();
  return { ...(response.ok ? JSON.parse(text) : {}), status: response.status };
}

describe("a credential that is written out", () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = new Workspace({
      "gateway.yaml": JSON.stringify(configuration(9)),
      "other.yaml": JSON.stringify(configuration(9, { backend: "sk-another", client: "other" })),
    });
  });

  it("is a warning in every place, and an error with --strict", async () => {
    const { code, stdout } = await gwc(["check", "gateway.yaml"], { cwd: workspace.folder });
    expect(stdout.match(/^warning\[literal-secret\]: \S+/gm)).toHaveLength(12);
    expect(code).toBe(0);
    expect((await gwc(["check", "--strict", "gateway.yaml"], { cwd: workspace.folder })).code).toBe(
      1,
    );
  });

  it("is in nothing that gwc writes or prints", async () => {
    const built = await gwc(["build", "gateway.yaml", "-o", "a"], { cwd: workspace.folder });
    expect(built.code, built.stderr).toBe(0);
    const printed = await gwc(["build", "--print", "program"], { cwd: workspace.folder });
    const explained = await gwc(["explain", "route", "web"], { cwd: workspace.folder });
    const all = [built, printed, explained].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    all.push(writtenIn(workspace.path("a")));
    for (const secret of Object.values(secrets)) {
      const bare = secret.replace("Bearer ", "");
      for (const text of all) expect(text).not.toContain(bare);
    }
  });

  it("does not show in the digest of the manifest", async () => {
    const inputs: unknown[] = [];
    for (const file of ["gateway.yaml", "other.yaml"]) {
      await gwc(["build", "--no-type-check", file, "-o", file.slice(0, 5)], {
        cwd: workspace.folder,
      });
      const manifest = workspace.path(path.join(file.slice(0, 5), "manifest.json"));
      inputs.push(JSON.parse(readFileSync(manifest, "utf8")).inputs[0].sha256);
    }
    expect(inputs[0]).toBe(inputs[1]);
  });

  it("is a variable that a bundle asks for by the name of the warning", async () => {
    const web = configuration(await freePort()).binds[0]?.listeners[0]?.routes[0];
    const listeners = [{ routes: [web ?? {}] }];
    const route = "GWC_BINDS_0_LISTENERS_0_ROUTES_0_POLICIES";
    const env = {
      [`${route}_APIKEY_KEYS_0_KEY`]: "from outside",
      [`${route}_BACKENDAUTH_KEY`]: "backend",
      [`${route}_REQUESTHEADERMODIFIER_SET_X_API_KEY`]: "header",
    };
    const gateway = await startGateway({ listeners, env });
    expect((await get(gateway.port, secrets.client)).status).toBe(401);
    const { status, headers } = await get(gateway.port, "from outside");
    expect(status).toBe(200);
    expect([headers.authorization, headers["x-api-key"]]).toEqual(["Bearer backend", "header"]);
    const unset = new Gateway(path.join(gateway.folder, "gateway.mjs"), gateway.folder, {});
    expect(await unset.exited).toBe(1);
    for (const name of Object.keys(env)) expect(unset.output).toContain(name);
  });

  it("is used by gwc run, and a new one after a change", async () => {
    const port = await freePort();
    const text = (overrides = {}) => {
      const { binds } = configuration(port, overrides);
      const any = "127.0.0.1:0";
      const config = { statsAddr: any, readinessAddr: any, adminAddr: any };
      return JSON.stringify({ config, binds });
    };
    const own = new Workspace({ "gateway.yaml": text() });
    const running = new GwcProcess(["run", own.path("gateway.yaml")]);
    await running.seen(/listening on/);
    const { status, headers } = await get(port, secrets.client);
    expect(status).toBe(200);
    expect(headers.authorization).toBe(`Bearer ${secrets.backend}`);
    own.write("gateway.yaml", text({ client: "second-key", backend: "second-backend" }));
    await running.seen(/changed: credentials changed/);
    expect((await get(port, secrets.client)).status).toBe(401);
    expect((await get(port, "second-key")).headers.authorization).toBe("Bearer second-backend");
    await running.stop();
    for (const secret of Object.values(secrets)) expect(running.output).not.toContain(secret);
  });
});
