import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileProblem } from "../host.ts";
import type { Arguments, CommandResult } from "./command.ts";
import { editorSchemaText } from "./schema.ts";

/** The schema beside a new configuration. */
const SCHEMA = "gateway.schema.json";

/** `gwc init`: a small configuration that works at once, and the schema that its first line names. */
export async function init({
  positionals: [file = "gateway.yaml"],
}: Arguments): Promise<CommandResult> {
  const schema = path.join(path.dirname(file), SCHEMA);
  try {
    // "wx": a file that is there, even one that appeared this moment, is left alone.
    writeFileSync(file, FIRST_GATEWAY, { flag: "wx" });
    if (!existsSync(schema)) writeFileSync(schema, editorSchemaText(), { flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    const problem =
      "code" in error && error.code === "EEXIST"
        ? `"${file}" exists already; nothing was written`
        : `"${file}" can't be written: ${fileProblem(error)}`;
    return { exitCode: 1, stderr: `error: ${problem}\n` };
  }
  return {
    exitCode: 0,
    stdout: `${file}\n${schema}\n`,
    stderr: `\nNext: gwc run -f ${file}, then point an MCP client at http://localhost:3000/\n`,
  };
}

const FIRST_GATEWAY = `# yaml-language-server: $schema=${SCHEMA}
#
# An MCP endpoint on port 3000, in front of one MCP server that is started as a child process.
#   gwc run -f FILE     serves it and follows your edits; what is served is shown on http://localhost:15000/ui/
#   gwc check FILE      says what is wrong with it
#   gwc build FILE      writes it down as TypeScript, and as one file that runs on Node.js alone

binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            policies:
              # Pages of any origin may use the endpoint (MCP clients in a browser).
              cors:
                allowOrigins: ["*"]
                allowHeaders: [content-type, authorization, mcp-protocol-version, mcp-session-id]
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
                        args: ["-y", "@modelcontextprotocol/server-everything"]
`;
