import { expect, it } from "vitest";
import { parse } from "yaml";
import { checkFiles } from "../../../compiler/compile.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { withPresentFields } from "../../../compiler/import/agentgateway/present-form.ts";
import { programDiff } from "../../../compiler/inspect/diff/program-diff.ts";
import { gwc } from "../../harness/gwc.ts";
import { Workspace } from "../../harness/workspace.ts";

/** A route in the form before 1.0, and in the present one. */
interface Pair {
  readonly what: string;
  readonly policies?: string;
  readonly backend?: string;
  readonly now: { readonly policies?: string; readonly backend?: string };
}

const MCP = "{ mcp: { targets: [{ name: a, mcp: { host: 127.0.0.1, port: 9002 } }] } }";
const AI = "{ ai: { name: m, provider: { openAI: { model: gpt-5 } } } }";
const SERVER = "host: 127.0.0.1:9001";

const pairs: readonly Pair[] = [
  {
    what: "jwksUrl and audience of mcpAuthentication",
    policies:
      "{ mcpAuthentication: { issuer: 'https://i.test', jwksUrl: 'https://i.test/jwks', audience: tools } }",
    backend: MCP,
    now: {
      policies:
        "{ mcpAuthentication: { issuer: 'https://i.test', jwks: { url: 'https://i.test/jwks' }, audiences: [tools] } }",
    },
  },
  {
    what: "context and timeout of extAuthz",
    policies: `{ extAuthz: { ${SERVER}, context: { zone: a }, timeout: 2s } }`,
    now: {
      policies: `{ extAuthz: { ${SERVER}, protocol: { grpc: { context: { zone: a } } }, policies: { http: { requestTimeout: 2s } } } }`,
    },
  },
  {
    what: "context of extAuthz next to metadata",
    policies: `{ extAuthz: { ${SERVER}, context: { zone: a }, protocol: { grpc: { metadata: { m: '{"path": request.path}' } } } } }`,
    now: {
      policies: `{ extAuthz: { ${SERVER}, protocol: { grpc: { context: { zone: a }, metadata: { m: '{"path": request.path}' } } } } }`,
    },
  },
  {
    what: "failOpen: true of extAuthz",
    policies: `{ extAuthz: { ${SERVER}, failOpen: true } }`,
    now: { policies: `{ extAuthz: { ${SERVER}, failureMode: allow } }` },
  },
  {
    what: "failOpen: false of extAuthz",
    policies: `{ extAuthz: { ${SERVER}, failOpen: false } }`,
    now: { policies: `{ extAuthz: { ${SERVER}, failureMode: deny } }` },
  },
  {
    what: "statusOnError of extAuthz",
    policies: `{ extAuthz: { ${SERVER}, statusOnError: 503 } }`,
    now: { policies: `{ extAuthz: { ${SERVER}, failureMode: { denyWithStatus: 503 } } }` },
  },
  {
    what: "timeout of remoteRateLimit",
    policies: `{ remoteRateLimit: { domain: d, ${SERVER}, timeout: 1s, descriptors: [{ entries: [{ key: a, value: request.path }] }] } }`,
    now: {
      policies: `{ remoteRateLimit: { domain: d, ${SERVER}, policies: { http: { requestTimeout: 1s } }, descriptors: [{ entries: [{ key: a, value: request.path }] }] } }`,
    },
  },
  {
    what: "routes and credentials of an ai backend",
    backend:
      "{ ai: { name: m, provider: { openAI: {} }, routes: { /v1/chat/completions: completions, '*': passthrough }, backendAuth: { key: $KEY } } }",
    now: {
      backend:
        "{ ai: { name: m, provider: { openAI: {} }, policies: { ai: { routes: { /v1/chat/completions: completions, '*': passthrough } }, backendAuth: { key: $KEY } } } }",
    },
  },
  {
    what: "credentials of a provider of a group",
    backend:
      "{ ai: { groups: [{ providers: [{ name: a, provider: { openAI: {} }, backendAuth: { key: $KEY } }] }] } }",
    now: {
      backend:
        "{ ai: { groups: [{ providers: [{ name: a, provider: { openAI: {} }, policies: { backendAuth: { key: $KEY } } }] }] } }",
    },
  },
  {
    what: "guards in one mapping",
    policies:
      "{ ai: { promptGuard: { request: { regex: { action: { reject: { response: { status: 422, body: no } } }, rules: [{ pattern: SSN, name: ssn }] }, webhook: { target: { host: '127.0.0.1:9003' } } }, response: { regex: { action: mask, rules: [{ builtin: email }] } } } } }",
    backend: AI,
    now: {
      policies:
        "{ ai: { promptGuard: { request: [{ webhook: { target: { host: '127.0.0.1:9003' } } }, { regex: { action: reject, rules: [{ pattern: SSN }] }, rejection: { status: 422, body: no } }], response: [{ regex: { action: mask, rules: [{ builtin: email }] } }] } } }",
    },
  },
  {
    what: "one prompt that is added",
    policies: "{ ai: { prompts: { prepend: { role: system, content: be brief } } } }",
    backend: AI,
    now: { policies: "{ ai: { prompts: { prepend: [{ role: system, content: be brief }] } } }" },
  },
  {
    what: "the name of an mcp backend",
    backend:
      "{ mcp: { name: default, targets: [{ name: a, mcp: { host: 127.0.0.1, port: 9002 } }] } }",
    now: { backend: MCP },
  },
];

const HTTP = "{ host: '127.0.0.1:9000' }";

function fileOf(policies = "{}", backend = HTTP): string {
  return `# kept
gateways: { default: { port: 3000 } }
routes:
- name: a
  policies: ${policies}
  backends:
  - ${backend} # kept, too
`;
}

function checked(text: string) {
  const host = memoryHost({ "gateway.yaml": text }, { KEY: "secret" });
  return checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false });
}

it.each(pairs)("$what mean what the present form means", ({ policies, backend, now }) => {
  const earlier = fileOf(policies, backend);
  const present = fileOf(now.policies ?? policies, now.backend ?? backend);
  const [before, after] = [checked(earlier), checked(present)];
  if (before.program === undefined || after.program === undefined)
    throw new Error(JSON.stringify([...before.diagnostics, ...after.diagnostics]));
  const { differences, undecided } = programDiff(before.program, after.program);
  expect({ differences, undecided }).toEqual({ differences: [], undecided: [] });
  expect(before.diagnostics.some(({ code }) => code === "earlier-form")).toBe(true);
  expect(after.diagnostics.some(({ code }) => code === "earlier-form")).toBe(false);
  const written = withPresentFields(earlier).text;
  expect(written).toContain("# kept\n");
  expect(checked(written).diagnostics.some(({ code }) => code === "earlier-form")).toBe(false);
  const { differences: rewritten } = programDiff(
    before.program,
    checked(written).program ?? after.program,
  );
  expect(rewritten).toEqual([]);
});

it.each([
  [
    "both forms",
    "{ mcpAuthentication: { issuer: 'https://i.test', jwks: { url: 'https://i.test/a' }, jwksUrl: 'https://i.test/b' } }",
  ],
  [
    "a status that failOpen would ignore",
    `{ extAuthz: { ${SERVER}, failOpen: true, statusOnError: 503 } }`,
  ],
  ["a context that is no mapping", `{ extAuthz: { ${SERVER}, context: zone } }`],
])("%s stays an error", (_, policies) => {
  const { diagnostics } = checked(fileOf(policies, MCP));
  expect(diagnostics.map(({ code }) => code)).toContain("unknown-field");
});

it("makes earlier forms errors with --strict", async () => {
  const text = fileOf(`{ extAuthz: { ${SERVER}, failOpen: true } }`);
  const { folder } = new Workspace({ "gateway.yaml": text });
  const { code, stdout } = await gwc(["check", "gateway.yaml", "--strict"], { cwd: folder });
  expect(code).toBe(1);
  expect(stdout).toContain("error[earlier-form]");
});

it("rewrites parts that aliases share once", () => {
  const shared = fileOf(`{ extAuthz: &a { ${SERVER}, failOpen: true } }`);
  const text = `${shared}- name: b\n  matches: [{ path: { exact: /b } }]\n  policies: { extAuthz: *a }\n  backends: [${HTTP}]\n`;
  const { diagnostics, program } = checked(text);
  expect(diagnostics.filter(({ code }) => code === "earlier-form")).toHaveLength(1);
  expect(program).toBeDefined();
  expect(parse(withPresentFields(text).text).routes[1].policies.extAuthz.failureMode).toBe("allow");
});
