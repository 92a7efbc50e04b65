import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { atEnd } from "../harness/at-end.ts";
import { npmProgram } from "../harness/npm-program.ts";

/** One run of an agent without a terminal. */
export interface AgentRun {
  /** URL of the gateway. */
  readonly url: string;
  /** Home and working directory, with the earlier runs of the session. */
  readonly home: string;
  readonly prompt: string;
  /** Whether it continues the session. */
  readonly continues: boolean;
  /** Name of a picture in the working directory that the prompt is about; absent if there is none. */
  readonly picture?: string;
  /** Whether the agent first replaces its history with a summary, if it can without a terminal. */
  readonly compacts?: boolean;
  /** Interrupts the agent, as Ctrl+C does. */
  readonly signal?: AbortSignal;
}

/** Coding agents from npm. */
export const programs = {
  claude: runClaude,
  codex: runCodex,
  gemini: runGemini,
  opencode: runOpencode,
} as const;

async function runClaude({ url, home, prompt, continues, ...run }: AgentRun): Promise<string> {
  const file = await npmProgram("claude");
  const parameters = ["-p", prompt, "--allowedTools", "Bash"];
  return runAgent(file, continues ? [...parameters, "--continue"] : parameters, home, run, {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "client-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
}

async function runCodex({ url, home, prompt, continues, ...run }: AgentRun): Promise<string> {
  const file = await npmProgram("codex");
  mkdirSync(path.join(home, ".codex"), { recursive: true });
  const config = `model = "gpt-5.4"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${url}/v1"
env_key = "KEY"
wire_api = "responses"
supports_websockets = true
`;
  writeFileSync(path.join(home, ".codex/config.toml"), config);
  const options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  const resume = continues ? ["resume", "--last"] : [];
  return runAgent(file, ["exec", ...options, ...resume, prompt], home, run, { KEY: "client-key" });
}

const NO_FETCH = { OPENCODE_DISABLE_MODELS_FETCH: "1" };

async function runOpencode({ url, home, prompt, continues, ...run }: AgentRun): Promise<string> {
  const file = await npmProgram("opencode");
  const config = {
    model: "gateway/model",
    permission: "allow",
    autoupdate: false,
    provider: {
      gateway: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: "client-key" },
        models: { model: { attachment: true, modalities: { input: ["text", "image"] } } },
      },
    },
  };
  writeFileSync(path.join(home, "opencode.json"), JSON.stringify(config));
  const last = continues ? ["--continue"] : [];
  const attached = run.picture === undefined ? [] : ["--file", run.picture];
  if (run.compacts) await compactOpencode(file, home);
  const parameters = ["run", ...last, "--title", "Test", prompt, ...attached];
  return runAgent(file, parameters, home, run, NO_FETCH);
}

/** Makes the server of opencode summarize the only session. */
async function compactOpencode(file: string, home: string): Promise<void> {
  const { child: server, end } = startAgent(file, ["serve", "--port", "0"], home, NO_FETCH);
  const { promise, resolve } = Promise.withResolvers<string>();
  server.stdout.setEncoding("utf8").on("data", (text: string) => {
    const [url] = /http:\/\/[\w.:]+/.exec(text) ?? [];
    if (url !== undefined) resolve(url);
  });
  const url = await promise;
  const list: unknown = await (await fetch(`${url}/session`)).json();
  const [id] = /ses_\w+/.exec(JSON.stringify(list)) ?? [];
  const response = await fetch(`${url}/session/${id}/summarize`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ providerID: "gateway", modelID: "model" }),
  });
  await response.text();
  end("SIGKILL");
  if (!response.ok) throw new Error(`opencode did not compact: ${response.status}`);
}

async function runGemini({ url, home, prompt, continues, ...run }: AgentRun): Promise<string> {
  const file = await npmProgram("gemini");
  mkdirSync(path.join(home, ".gemini"), { recursive: true });
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
    ...(run.compacts && { model: { compressionThreshold: 0.000001 } }),
  };
  writeFileSync(path.join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const last = continues ? ["--resume", "latest"] : [];
  const options = ["--yolo", "--skip-trust", "--model", "gemini-3-pro-preview"];
  const attached = run.picture === undefined ? "" : ` @${run.picture}`;
  return runAgent(file, [...options, ...last, "--prompt", prompt + attached], home, run, {
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "client-key",
  });
}

/** Maximum duration of a run, in milliseconds. */
const MAX_RUN = 240_000;

/** Returns the output of an agent that has no terminal. Rejects if it fails, unless it was interrupted. */
function runAgent(
  file: string,
  parameters: readonly string[],
  home: string,
  { signal }: Pick<AgentRun, "signal">,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { child, end } = startAgent(file, parameters, home, env);
  const timer = setTimeout(() => end("SIGKILL"), MAX_RUN);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  signal?.addEventListener("abort", () => end("SIGINT"));
  child.on("error", reject);
  child.on("close", (code) => {
    clearTimeout(timer);
    if (code === 0 || signal?.aborted === true) resolve(output);
    else reject(new Error(`${path.basename(file)} ended with ${code}: ${output}`));
  });
  return promise;
}

/** Starts an agent, which ends with the test at the latest. `end`: signals all of its processes, as a terminal does. */
function startAgent(
  file: string,
  parameters: readonly string[],
  home: string,
  env: Readonly<Record<string, string>>,
) {
  const child = spawn(file, parameters, {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const end = (name: "SIGINT" | "SIGKILL") => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (isRunning && child.pid !== undefined) process.kill(-child.pid, name);
  };
  atEnd(() => end("SIGKILL"));
  return { child, end };
}
