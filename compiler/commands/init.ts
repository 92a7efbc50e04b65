import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileProblem } from "../host.ts";
import { packageRoot } from "../installation.ts";
import type { Arguments, Command, CommandResult } from "./command.ts";
import { editorSchemaText } from "./schema.ts";

/** Name of the schema file, in the package and next to a configuration. */
const SCHEMA = "gateway.schema.json";

/** `gwc init`: writes a small working configuration; with `--schema` also the schema next to it. */
export const init: Command = {
  minPositionals: 0,
  maxPositionals: 1,
  details:
    "Writes FILE (default: gateway.yaml), unless it exists. Its first line refers editors to the schema in the installed package.",
  options: [
    { name: "schema", summary: "write the schema next to FILE instead" },
    {
      name: "policy",
      value: "NAME",
      summary: "write policies/NAME.ts, a policy in TypeScript, and its test instead of FILE",
    },
  ],
  examples: ["gwc init && gwc run"],
  work: writeFirst,
};

async function writeFirst({
  positionals: [file = "gateway.yaml"],
  options,
  flags,
}: Arguments): Promise<CommandResult> {
  if (options.policy !== undefined) return writePolicy(options.policy);
  const folder = path.dirname(file);
  const schema = flags.has("schema") ? path.join(folder, SCHEMA) : undefined;
  const reference = schema === undefined ? packagedSchema(folder) : SCHEMA;
  try {
    // "wx" fails if the file exists, also if it was created just now.
    writeFileSync(file, firstGateway(reference), { flag: "wx" });
    if (schema !== undefined) writeFileSync(schema, editorSchemaText());
  } catch (error) {
    return writeProblem(file, error);
  }
  const run = file === "gateway.yaml" ? "gwc run" : `gwc run ${file}`;
  return {
    exitCode: 0,
    stdout: schema === undefined ? `${file}\n` : `${file}\n${schema}\n`,
    stderr: `\nNext: \`npx ${run}\` serves it at http://localhost:3000/ and prints a command to try.\n`,
  };
}

/** Writes a policy and its test. */
function writePolicy(name: string): CommandResult {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    const problem = `"${name}" is not a name of a policy: use lower-case letters, digits and "-"`;
    return { exitCode: 2, stderr: `error: ${problem}\n` };
  }
  const file = `policies/${name}.ts`;
  const test = `policies/${name}.test.ts`;
  try {
    mkdirSync("policies", { recursive: true });
    writeFileSync(file, FIRST_POLICY, { flag: "wx" });
    writeFileSync(test, firstTest(name), { flag: "wx" });
  } catch (error) {
    return writeProblem(file, error);
  }
  const settings = "policies/tsconfig.json";
  const written = [file, test, ...(writeOnce(settings, EDITOR_SETTINGS) ? [settings] : [])];
  return {
    exitCode: 0,
    stdout: written.map((each) => `${each}\n`).join(""),
    stderr: `\nNext: add it to a route, and try its test with \`npm i -D vitest\` and \`npx vitest run\`:\n  policies: { custom: [{ use: ./${file} }] }\n`,
  };
}

/** Writes a file unless it exists; returns whether it was written. */
function writeOnce(file: string, text: string): boolean {
  if (existsSync(file)) return false;
  writeFileSync(file, text);
  return true;
}

/** Settings with which editors and `tsc` check policies as `gwc check` does. */
const EDITOR_SETTINGS = `${JSON.stringify(
  {
    compilerOptions: {
      ...{ target: "esnext", module: "esnext", moduleResolution: "bundler", types: [] },
      lib: ["es2025", "webworker"],
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
      ...{ noUnusedLocals: true, noUnusedParameters: true, verbatimModuleSyntax: true },
      ...{ allowImportingTsExtensions: true, skipLibCheck: true, noEmit: true },
    },
  },
  undefined,
  2,
)}\n`;

/** Reports a file that cannot be written. Throws errors other than those of the file system. */
function writeProblem(file: string, error: unknown): CommandResult {
  if (!(error instanceof Error) || !("syscall" in error)) throw error;
  const problem =
    "code" in error && error.code === "EEXIST"
      ? `"${file}" already exists; nothing was written`
      : `"${file}" cannot be written: ${fileProblem(error)}`;
  return { exitCode: 1, stderr: `error: ${problem}\n` };
}

const FIRST_POLICY = [
  'import { definePolicy } from "gwc/policy";',
  "",
  "/** Rejects requests without a tenant, and provides the tenant to later rules as custom.tenant. */",
  "export default definePolicy({",
  '  options: { header: { type: "string", default: "x-tenant" } },',
  '  provides: { tenant: "string" },',
  "  request(request, { header }) {",
  "    const tenant = request.headers.get(header);",
  '    if (tenant === null) return request.refuse(403, "no tenant");',
  "    return { tenant: tenant.toLowerCase() };",
  "  },",
  "});",
  "",
].join("\n");

function firstTest(name: string): string {
  return [
    'import { testPolicy } from "gwc/policy/testing";',
    'import { expect, it } from "vitest";',
    `import policy from "./${name}.ts";`,
    "",
    'it("refuses requests without a tenant", async () => {',
    "  const { refusal } = await testPolicy(policy);",
    "  expect(refusal?.status).toBe(403);",
    "});",
    "",
    'it("provides the tenant", async () => {',
    '  const { provided } = await testPolicy(policy, {}, { headers: { "x-tenant": "Acme" } });',
    '  expect(provided).toEqual({ tenant: "acme" });',
    "});",
    "",
  ].join("\n");
}

/** Returns the path from a folder to the schema of the installed package; `undefined` if this gwc is not installed there. */
function packagedSchema(folder: string): string | undefined {
  for (let above = path.resolve(folder); ; above = path.dirname(above)) {
    const installed = path.join(above, "node_modules", "gwc", SCHEMA);
    // Only this gwc's: the schema of another version has other fields.
    if (existsSync(installed) && realpathSync(path.dirname(installed)) === packageRoot)
      return path.relative(folder, installed).split(path.sep).join("/");
    if (above === path.dirname(above)) return undefined;
  }
}

function firstGateway(schema: string | undefined): string {
  return schema === undefined
    ? FIRST_GATEWAY
    : `# yaml-language-server: $schema=${schema}\n${FIRST_GATEWAY}`;
}

const FIRST_GATEWAY = `# An MCP endpoint on port 3000, in front of one MCP server that is started as a child process.
#   gwc run      serves it and reloads it when you edit; http://localhost:15000/ui/ shows it
#   gwc check    reports mistakes
#   gwc build    compiles it to TypeScript, and to one file that needs only Node.js

gateways:
  default:
    port: 3000

routes:
  - name: tools
    policies:
      # Pages of any origin may use the endpoint (MCP clients in a browser).
      cors:
        allowOrigins: ["*"]
        allowHeaders: [content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id]
        exposeHeaders: [mcp-session-id]
      # Clients see and can call only these tools.
      # mcpAuthorization:
      #   rules:
      #     - mcp.tool.name == "echo"
    backends:
      - mcp:
          targets:
            - name: everything
              stdio:
                cmd: npx
                args: ["-y", "@modelcontextprotocol/server-everything@2026.8.31"]
`;
