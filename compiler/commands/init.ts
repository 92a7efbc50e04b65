import { existsSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileProblem } from "../host.ts";
import { packageRoot } from "../installation.ts";
import type { Arguments, Command, CommandResult } from "./command.ts";
import { editorSchemaText } from "./schema.ts";

/** The schema's file: in the package, and beside a configuration. */
const SCHEMA = "gateway.schema.json";

/** `gwc init`: a small configuration that works at once; with `--schema` also the schema, beside it. */
export const init: Command = {
  minPositionals: 0,
  maxPositionals: 1,
  details:
    "FILE is gateway.yaml by default; an existing file is left alone. Its first line names the schema for editors in the\n" +
    "installed package.",
  options: [{ name: "schema", summary: "write the schema beside it instead" }],
  examples: ["gwc init && gwc run"],
  work: writeFirst,
};

async function writeFirst({
  positionals: [file = "gateway.yaml"],
  flags,
}: Arguments): Promise<CommandResult> {
  const folder = path.dirname(file);
  const schema = flags.has("schema") ? path.join(folder, SCHEMA) : undefined;
  const reference = schema === undefined ? packagedSchema(folder) : SCHEMA;
  try {
    // "wx": a file that is there, even one that appeared this moment, is left alone.
    writeFileSync(file, firstGateway(reference), { flag: "wx" });
    if (schema !== undefined) writeFileSync(schema, editorSchemaText());
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    const problem =
      "code" in error && error.code === "EEXIST"
        ? `"${file}" exists already; nothing was written`
        : `"${file}" can't be written: ${fileProblem(error)}`;
    return { exitCode: 1, stderr: `error: ${problem}\n` };
  }
  const run = file === "gateway.yaml" ? "gwc run" : `gwc run ${file}`;
  return {
    exitCode: 0,
    stdout: schema === undefined ? `${file}\n` : `${file}\n${schema}\n`,
    stderr: `\nNext: \`npx ${run}\` serves it at http://localhost:3000/ and prints a command to try.\n`,
  };
}

/** The schema in the package that is installed for a folder, as a path from there; undefined when none is. */
function packagedSchema(folder: string): string | undefined {
  for (let above = path.resolve(folder); ; above = path.dirname(above)) {
    const installed = path.join(above, "node_modules", "gwc", SCHEMA);
    // Only of this gwc: another version's schema has other fields.
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
#   gwc run      serves it and follows your edits; http://localhost:15000/ui/ shows what is served
#   gwc check    says what is wrong with it
#   gwc build    writes it down as TypeScript, and as one file that runs on Node.js alone

binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            policies:
              # Pages of any origin may use the endpoint (MCP clients in a browser).
              cors:
                allowOrigins: ["*"]
                allowHeaders: [content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id]
                exposeHeaders: [mcp-session-id]
              # Only these tools exist for a client: what is not listed can't be called either.
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
