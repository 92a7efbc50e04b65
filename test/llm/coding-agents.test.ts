import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { npmProgram } from "../harness/npm-program.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { itUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import type { Call } from "./table/features.ts";
import { upstreamAt } from "./table/pairs.ts";
import { isStreamed } from "./table/respond.ts";

/** The providers, with models that refuse the most. */
const providers = {
  openai: { openai: { model: "gpt-5.4", api: "responses" } },
  anthropic: { anthropic: { model: "claude-opus-4-7" } },
  gemini: { gemini: { model: "gemini-3-pro-preview" } },
  bedrock: { bedrock: { model: "us.anthropic.claude-opus-4-7-v1:0" } },
} as const;

type Provider = keyof typeof providers;

/** The agents, each with the tool that runs a command. */
const agents = {
  claude: {
    native: "anthropic",
    call: (command: string): Call => ({ name: "Bash", input: { command, description: "Prints" } }),
    run: runClaude,
  },
  codex: {
    native: "openai",
    call: (cmd: string): Call => ({ name: "exec_command", input: { cmd } }),
    run: runCodex,
  },
  gemini: {
    native: "gemini",
    call: (command: string): Call => ({
      name: "run_shell_command",
      input: { command, description: "Prints" },
    }),
    run: runGemini,
  },
  opencode: {
    native: undefined,
    call: (command: string): Call => ({ name: "bash", input: { command, description: "Prints" } }),
    run: runOpencode,
  },
} as const;

const pairs = (["claude", "codex", "gemini", "opencode"] as const).flatMap((agent) =>
  (["openai", "anthropic", "gemini", "bedrock"] as const).map(
    (provider) => [agent, provider] as const,
  ),
);

/** Two agents need seconds, the others minutes. */
const QUICK = ["claude", "codex"];

for (const [agent, provider] of pairs)
  itUnless(QUICK.includes(agent) ? undefined : NOT_LONG)(
    `${agent} runs a command that the model of ${provider} calls, and continues in a second run`,
    async () => {
      const { native, call, run } = agents[agent];
      const upstream = await startScripted(
        (response, _count, request) => respond(response, request, call),
        native === provider ? "anything" : "valid",
      );
      const gateway = await startAgentGateway(upstream, provider);
      const { url } = gateway;
      const home = temporaryFolder();
      for (const number of [1, 2]) {
        const output = await run(url, home, number);
        expect(output).toContain(`The command has printed a${number}${number}b.`);
      }
      expect(refused).toEqual([]);
      if (agent !== "codex") return;
      // Each run tries a WebSocket once.
      const attempts = () => [...gateway.output.matchAll(/http\.status=426 /g)].length;
      await eventually(() => attempts() > 1 || null, "the attempts of both runs");
      expect(attempts()).toBe(2);
    },
    300_000,
  );

/** Requests that a provider has refused, and why. */
const refused: string[] = [];

/** Calls a command that prints `a11b` or `a22b`, and reports it when the output arrives. */
function respond(
  response: ServerResponse,
  { url, body }: Received,
  call: (command: string) => Call,
): void {
  const text = body.toString("utf8");
  const refusal = refusalOf(url, text);
  if (refusal !== undefined) {
    refused.push(refusal);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: refusal, type: "invalid_request_error" } }));
    return;
  }
  const number = text.includes("[run 2]") ? 2 : 1;
  const printed = `a${number}${number}b`;
  const wanted = call(`printf 'a%sb' ${number}${number}`);
  const isCalled = text.includes("[run") && text.includes(`"${wanted.name}"`);
  const isDone = text.includes(printed) || !isCalled;
  const said = {
    reasoning: "",
    text: isDone ? `The command has printed ${printed}.` : "",
    calls: isDone ? [] : [{ id: `call_of_run_${number}`, ...wanted }],
  };
  const server = upstreamAt(url);
  if (!isStreamed(url, text)) {
    response.writeHead(200, { "content-type": "application/json" }).end(server.whole(said));
    return;
  }
  response.writeHead(200, { "content-type": server.streamType });
  for (const event of server.events(said)) response.write(event);
  response.end();
}

/** Returns why a provider refuses a request that its schema allows; `undefined` if it accepts the request. */
function refusalOf(url: string, text: string): string | undefined {
  const body = JSON.parse(text);
  const thinking = body.thinking ?? body.additionalModelRequestFields?.thinking;
  if (thinking?.type === "enabled")
    return '"thinking.type.enabled" is not supported for this model';
  if (url.includes("/responses")) {
    if (body.temperature !== undefined) return "Unsupported parameter: 'temperature'";
    if (body.user?.length > 64) return "Invalid 'user': string too long";
    if (body.max_output_tokens < 16) return "Invalid 'max_output_tokens': below the minimum";
  }
  return undefined;
}

function startAgentGateway({ host }: Scripted, provider: Provider): Promise<Gateway> {
  const routes = {
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "tokenCount",
    "/v1/responses": "responses",
    "/v1/chat/completions": "completions",
    ":generateContent": "generateContent",
    ":streamGenerateContent": "generateContent",
  };
  return startGateway({
    env: { KEY: "provider-key", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { key: "${KEY}" },
              ai: { routes, unsupported: "drop" },
            },
            backends: [{ ai: { provider: providers[provider], hostOverride: host } }],
          },
        ],
      },
    ],
  });
}

const promptOf = (number: number) => `Run the command of step ${number}. [run ${number}]`;

async function runClaude(url: string, home: string, number: number): Promise<string> {
  const file = await npmProgram("claude");
  const parameters = ["-p", promptOf(number), "--allowedTools", "Bash"];
  return runAgent(file, number === 1 ? parameters : [...parameters, "--continue"], home, {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "client-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
}

async function runCodex(url: string, home: string, number: number): Promise<string> {
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
  const resume = number === 1 ? [] : ["resume", "--last"];
  return runAgent(file, ["exec", ...options, ...resume, promptOf(number)], home, {
    KEY: "client-key",
  });
}

async function runOpencode(url: string, home: string, number: number): Promise<string> {
  const file = await npmProgram("opencode");
  const config = {
    model: "gateway/model",
    permission: "allow",
    autoupdate: false,
    provider: {
      gateway: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: "client-key" },
        models: { model: {} },
      },
    },
  };
  writeFileSync(path.join(home, "opencode.json"), JSON.stringify(config));
  const last = number === 1 ? [] : ["--continue"];
  return runAgent(file, ["run", ...last, "--title", "Test", promptOf(number)], home, {
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  });
}

async function runGemini(url: string, home: string, number: number): Promise<string> {
  const file = await npmProgram("gemini");
  mkdirSync(path.join(home, ".gemini"), { recursive: true });
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
  };
  writeFileSync(path.join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const last = number === 1 ? [] : ["--resume", "latest"];
  const options = ["--yolo", "--skip-trust", "--model", "gemini-3-pro-preview"];
  return runAgent(file, [...options, ...last, "--prompt", promptOf(number)], home, {
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "client-key",
  });
}

/** Returns the output of an agent that has no terminal. */
async function runAgent(
  file: string,
  parameters: readonly string[],
  home: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const running = promisify(execFile)(file, parameters, {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
    timeout: 240_000,
  });
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return `${stdout}${stderr}`;
}
