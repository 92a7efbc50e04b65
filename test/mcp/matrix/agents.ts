import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { npmProgram } from "../../harness/npm-program.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { PROMPT, startAgentModel } from "./agent-model.ts";
import type { TryClient } from "./trial.ts";

/** How an agent without a terminal is started. */
interface AgentStart {
  readonly parameters: readonly string[];
  /** Files of its home, by their paths. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** Tries Claude Code. A hook answers questions of servers, as a person would. */
export const tryClaude: TryClient = (url, calls) =>
  tryAgent("claude", calls, (model) => {
    const answer = { action: "accept", content: { name: "Ada" } };
    const output = { hookSpecificOutput: { hookEventName: "Elicitation", ...answer } };
    const command = `echo '${JSON.stringify(output)}'`;
    const hooks = { Elicitation: [{ hooks: [{ type: "command", command }] }] };
    return {
      parameters: [
        ...["-p", PROMPT, "--mcp-config", "mcp.json", "--strict-mcp-config"],
        ...["--settings", "settings.json"],
        ...["--allowedTools", "mcp__gateway", "ReadMcpResourceTool"],
      ],
      files: {
        "mcp.json": JSON.stringify({ mcpServers: { gateway: { type: "http", url } } }),
        "settings.json": JSON.stringify({ hooks }),
      },
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: "key",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        // Its own search would hide the list of tools.
        ENABLE_TOOL_SEARCH: "false",
        // Otherwise it begins before its servers have started, without their tools.
        MCP_CONNECTION_NONBLOCKING: "0",
        MCP_CONNECT_TIMEOUT_MS: "300000",
      },
    };
  });

/** Tries Codex. */
export const tryCodex: TryClient = (url, calls) =>
  tryAgent("codex", calls, (model) => ({
    parameters: [
      ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    ],
    files: {
      ".codex/config.toml": `model = "gpt-5.4"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
env_key = "KEY"
wire_api = "responses"
[mcp_servers.gateway]
url = "${url}"
required = true
`,
    },
    env: { KEY: "key" },
  }));

/** Tries Gemini CLI. */
export const tryGemini: TryClient = (url, calls) =>
  tryAgent("gemini", calls, (model) => ({
    parameters: [
      ...["--yolo", "--skip-trust", "--model", "gemini-3-pro-preview", "--prompt", PROMPT],
    ],
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        mcpServers: { gateway: { httpUrl: url, trust: true } },
      }),
    },
    env: { GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: "key" },
  }));

async function tryAgent(
  name: "claude" | "codex" | "gemini",
  calls: Parameters<TryClient>[1],
  startOf: (model: string) => AgentStart,
): ReturnType<TryClient> {
  const model = await startAgentModel(calls);
  const { parameters, files, env } = startOf(model.url);
  const home = temporaryFolder(files);
  const running = promisify(execFile)(await npmProgram(name), parameters, {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
    timeout: 600_000,
  });
  running.child.stdin?.end();
  await running;
  return model.trial();
}
