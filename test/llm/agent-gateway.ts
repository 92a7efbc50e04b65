import { type Gateway, startGateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import type { Call } from "./table/features.ts";

/** The providers, with models that refuse the most. */
export const providers = {
  openai: { openai: { model: "gpt-5.4", api: "responses" } },
  anthropic: { anthropic: { model: "claude-opus-4-7" } },
  gemini: { gemini: { model: "gemini-3-pro-preview" } },
  bedrock: { bedrock: { model: "us.anthropic.claude-opus-4-7-v1:0" } },
} as const;

/** Their names. */
export type Provider = keyof typeof providers;

/** The agents, each with the tool that runs a command. */
export const agents = {
  claude: {
    native: "anthropic",
    call: (command: string): Call => ({ name: "Bash", input: { command, description: "Prints" } }),
  },
  codex: {
    native: "openai",
    call: (cmd: string): Call => ({ name: "exec_command", input: { cmd } }),
  },
  gemini: {
    native: "gemini",
    call: (command: string): Call => ({
      name: "run_shell_command",
      input: { command, description: "Prints" },
    }),
  },
  opencode: {
    native: undefined,
    call: (command: string): Call => ({ name: "bash", input: { command, description: "Prints" } }),
  },
} as const;

/** Returns why a provider refuses a request that its schema allows; `undefined` if it accepts the request. */
export function refusalOf(url: string, text: string): string | undefined {
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

/** A gateway in front of a provider, with all APIs that agents use. */
export function startAgentGateway({ host }: Scripted, provider: Provider): Promise<Gateway> {
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
