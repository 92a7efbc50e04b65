import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { ownScript } from "../harness/own-script.ts";
import { Workspace } from "../harness/workspace.ts";

const keys =
  '{"keys":[{"kty":"EC","crv":"P-256","kid":"a","alg":"ES256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}';
const script = ownScript("mcp/fixtures/changing-server.ts");

/** Returns a workspace with a configuration whose routes, models and MCP servers attach to gateways by name. */
function workspaceWith(change: (text: string) => string = (text) => text): Workspace {
  const workspace = new Workspace({});
  const stdio = JSON.stringify([script, "sessions", "stdio", workspace.path("state")]);
  workspace.write(
    "gateway.yaml",
    change(`gateways:
  default:
    port: 3000
    jwtAuth: { mode: optional, issuer: "https://id.example.com", audiences: [shop], jwks: { inline: '${keys}' } }
  inner: { port: 3001 }
routes:
  - name: admin
    matches: [{ path: { pathPrefix: /admin } }]
    policies: { authorization: { rules: ['"admin" in jwt.roles'] } }
    backends: [{ host: "127.0.0.1:9000" }]
  - { name: rest, gateways: [default], backends: [{ host: "127.0.0.1:9001" }] }
llm:
  gateways: inner
  policies: { apiKey: { keys: [{ key: "\${KEY}", metadata: { team: red } }] } }
  models: [{ name: a, provider: ollama, authorization: { rules: ['apiKey.team == "red"'] } }]
mcp:
  gateways: default
  targets: [{ name: files, stdio: { cmd: ${process.execPath}, args: ${stdio} } }]
  policies: { mcpAuthorization: { rules: ['mcp.tool.name == "hello"'] } }
`),
  );
  return workspace;
}

it("gwc can decides about routes, models and tools of named gateways", async () => {
  const { folder: cwd } = workspaceWith();
  const can = (...argv: readonly string[]) => gwc(["can", ...argv], { cwd });
  const admin = "http://localhost:3000/admin";
  expect(await can("GET", admin)).toMatchObject({ code: 1 });
  const claims = '{"sub":"eve","aud":"shop","roles":["admin"]}';
  const opened = await can("GET", admin, "--as", claims);
  expect(opened).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("route admin (listener default)"),
  });
  const chat = "http://localhost:3001/v1/chat/completions";
  const asked = await can("POST", chat, "--api-key", '{"team":"red"}');
  expect(asked).toMatchObject({
    code: 4,
    stdout: expect.stringContaining("route llm (listener inner)"),
  });
  expect(await can("call", "tool", "hello")).toMatchObject({ code: 0 });
  expect(await can("call", "tool", "other")).toMatchObject({ code: 1 });
});

it("gwc diff finds changed rules of routes, models and ports of named gateways", async () => {
  const before = workspaceWith();
  const changed = (from: string, to: string) =>
    workspaceWith((text) => text.replace(from, to)).path("gateway.yaml");
  const diff = async (from: string, to: string) =>
    (await gwc(["diff", before.path("gateway.yaml"), changed(from, to)])).stdout;
  expect(await diff('"admin" in jwt', '"user" in jwt')).toMatch(
    /OPENS +route admin \(:3000 \/admin\)/,
  );
  expect(await diff('team == "red"', 'team == "blue"')).toMatch(
    /CHANGES +route llm \(:3001 \/\) .*team == "blue"/,
  );
  expect(await diff("inner: { port: 3001 }", "inner: { port: 3002 }")).toContain("3002");
});

it("gwc explain, lock and test work with named gateways", async () => {
  const workspace = workspaceWith((text) =>
    text.replace("  targets:", "  toolLock: gwc.lock.yaml\n  targets:"),
  );
  const run = (...argv: readonly string[]) => gwc(argv, { cwd: workspace.folder });
  expect(await run("lock")).toMatchObject({ code: 0, stdout: expect.stringContaining("2 tools") });
  expect(await run("check")).toMatchObject({ code: 0 });
  expect((await run("explain", "GET", "http://localhost:3000/admin")).stdout).toContain("admin");
  workspace.write(
    "a.test.yaml",
    `tests:
  - name: an admin
    request: GET http://localhost:3000/admin
    as: { jwt: { roles: [admin] } }
    expect: { allowed: true, route: admin }
  - name: a stranger
    request: GET http://localhost:3000/admin
    expect: { allowed: false, reason: Authorization }
`,
  );
  expect(await run("test")).toMatchObject({ code: 0 });
  const text = readFileSync(workspace.path("a.test.yaml"), "utf8");
  workspace.write("a.test.yaml", text.replace("allowed: true", "allowed: false"));
  expect(await run("test")).toMatchObject({ code: 1 });
});
