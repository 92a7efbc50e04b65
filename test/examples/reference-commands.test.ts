import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const run = promisify(execFile);

/** Each example has its port, as if it were a gateway of its own. */
const examples = ["tls", "auth", "guard", "enrichment", "a2a", "delegation"] as const;
type Example = (typeof examples)[number];

let ports: ReadonlyMap<Example, number>;
let gateway: Gateway;
let models: Scripted;

beforeAll(async () => {
  const free = await freePorts(examples.length);
  ports = new Map(examples.map((name, index) => [name, free[index] ?? 0]));
  const agent = await startScripted((response) => {
    response.setHeader("content-type", "application/json");
    response.end('{"name":"Hello","url":"http://localhost:9999"}');
  });
  const message = { role: "assistant", content: "Write to ada@example.com." };
  const completion = { id: "a", object: "chat.completion", created: 1, model: "gpt-4o-mini" };
  models = await startScripted((response) => {
    response.setHeader("content-type", "application/json");
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.end(JSON.stringify({ ...completion, choices }));
  }, "anything");
  const teams = await startScripted((response, _, { url }) => response.end(`team ${url}`));
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const mcp = { targets: [{ name: "everything", stdio: { cmd: process.execPath } }] };
  const openai = (model?: string) => ({
    name: "openai",
    hostOverride: models.host,
    provider: { openAI: { ...(model && { model }) } },
  });
  const exact = (...paths: readonly string[]) => paths.map((each) => ({ path: { exact: each } }));
  const prefix = (pathPrefix: string) => [{ path: { pathPrefix } }];
  const rejected = {
    status: 400,
    headers: { set: { "content-type": "application/json" } },
    body: '{"error": {"code": "content_policy_violation"}}',
  };
  const own = "http://localhost:3000/stdio/mcp";
  const listeners: Record<Example, object> = {
    tls: {
      protocol: "HTTPS",
      tls: { cert: `${folder}/site.pem`, key: `${folder}/site.key` },
      routes: [{ name: "tls", backends: [{ mcp }] }],
    },
    auth: {
      routes: [
        {
          name: "auth",
          matches: exact("/stdio/mcp", "/.well-known/oauth-protected-resource/stdio/mcp"),
          policies: {
            mcpAuthentication: {
              mode: "strict",
              issuer: "http://localhost:9000",
              audiences: [own],
              jwks: { url: "http://localhost:9000/.well-known/jwks.json" },
              resourceMetadata: { resource: own, scopesSupported: ["read:all"] },
            },
          },
          backends: [{ mcp }],
        },
      ],
    },
    guard: {
      routes: [
        {
          name: "guard",
          policies: {
            ai: {
              promptGuard: {
                request: [
                  { regex: { action: "reject", rules: [{ pattern: "SSN" }] }, rejection: rejected },
                  { regex: { action: "reject", rules: [{ builtin: "email" }] } },
                ],
              },
            },
          },
          backends: [{ ai: openai("gpt-4o-mini") }],
        },
      ],
    },
    enrichment: {
      routes: [
        {
          name: "enrichment",
          policies: {
            ai: {
              routes: { "/v1/chat/completions": "completions", "/v1/responses": "responses" },
              prompts: { append: [{ role: "system", content: "Emojis only" }] },
            },
          },
          backends: [{ ai: openai() }],
        },
      ],
    },
    a2a: {
      routes: [{ name: "agent", policies: { a2a: {} }, backends: [{ host: agent.host }] }],
    },
    delegation: {
      routes: [
        {
          name: "team1",
          matches: prefix("/anything/team1"),
          backends: [{ routeGroup: "team1-routes" }],
        },
        { name: "team2", matches: prefix("/anything/team2"), backends: [{ host: teams.host }] },
      ],
    },
  };
  const routes = ["foo", "bar"].map((name) => ({
    name: `child-${name}`,
    matches: prefix(`/anything/team1/${name}`),
    backends: [{ host: teams.host }],
  }));
  gateway = await startGateway({
    config: {
      binds: examples.map((name) => ({ port: ports.get(name), listeners: [listeners[name]] })),
      routeGroups: [{ name: "team1-routes", routes }],
    },
  });
});

/** Returns the output of curl, followed by the status. */
async function curl(example: Example, path: string, ...more: readonly string[]): Promise<string> {
  const scheme = example === "tls" ? "https" : "http";
  const url = `${scheme}://localhost:${ports.get(example)}${path}`;
  return (await run(program("curl"), ["-s", "-w", " %{http_code}", ...more, url])).stdout;
}

const json = ["-H", "Content-Type: application/json", "-H", "Authorization: Bearer k", "-d"];
const asks = (content: string) => [
  ...json,
  JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }] }),
];

it("tls: a request that is not MCP is refused, over TLS", async () => {
  // curl takes anything (`*/*`), event streams too: what is missing is a session.
  expect(await curl("tls", "", "-k")).toMatch(/Mcp-Session-Id is required.* 400$/);
});

it("mcp-authentication: without a token it is a 401 that names the resource's metadata", async () => {
  const refused = await curl("auth", "/stdio/mcp", "-i");
  expect(refused).toMatch(/ 401$/);
  const path = "/.well-known/oauth-protected-resource/stdio/mcp";
  expect(refused.toLowerCase()).toContain(
    `www-authenticate: bearer scope="read:all", resource_metadata="http://localhost:${ports.get("auth")}${path}"`,
  );
  expect(await curl("auth", path)).toMatch(/"scopes_supported":\["read:all"\].* 200$/);
});

it("ai-prompt-guard: a prompt with the word is rejected as configured, others are passed on", async () => {
  const rejected = await curl("guard", "", ...asks("Is 123-45-6789 a valid SSN"));
  expect(rejected).toBe('{"error": {"code": "content_policy_violation"}} 400');
  expect(models.received).toEqual([]);
  // Its guards are about requests: the address is the model's.
  const passed = await curl("guard", "", ...asks("Return a fake email address"));
  expect(passed).toMatch(/ada@example\.com.* 200$/);
});

it("prompt-enrichment: what is asked for on a path of completions has the prompt appended", async () => {
  const asked = asks("write a haiku about ai");
  expect(await curl("enrichment", "/v1/chat/completions", ...asked)).toMatch(/ 200$/);
  const { messages } = JSON.parse(String(models.received.at(-1)?.body));
  expect(messages.at(-1)).toEqual({ role: "system", content: "Emojis only" });
  expect(await curl("enrichment", "/v1/chat/requests", ...asked)).toMatch(/ 404$/);
});

it("a2a: the card of the agent names the gateway", async () => {
  expect(await curl("a2a", "/.well-known/agent.json")).toBe(
    `{"name":"Hello","url":"http://localhost:${ports.get("a2a")}"} 200`,
  );
});

it("delegation: routes of a group are reached below its parent, and nothing else is", async () => {
  for (const path of ["/anything/team1/foo", "/anything/team1/bar", "/anything/team2"])
    expect(await curl("delegation", path)).toBe(`team ${path} 200`);
  expect(await curl("delegation", "/other")).toMatch(/ 404$/);
});

it("telemetry: figures of requests are served for Prometheus, under names of gwc", async () => {
  await curl("delegation", "/other");
  const stats = await gateway.statsPort();
  const { stdout } = await run(program("curl"), [`localhost:${stats}/metrics`, "-s"]);
  expect(stdout).toMatch(/^gwc_requests_total\{.*status="404".*\} \d+$/m);
});
