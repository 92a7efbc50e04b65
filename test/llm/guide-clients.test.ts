import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, type LanguageModel } from "ai";
import { beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type NpmProgram, npmProgram } from "../harness/npm-program.ts";
import { pythonFor } from "../harness/python.ts";
import { root } from "../harness/root.ts";
import { startScripted } from "../harness/scripted.ts";
import { itUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { upstreamAt } from "./table/pairs.ts";
import { isStreamed } from "./table/respond.ts";

/** Text of every model. */
const SAID = "The rain in Spain.";
/** The key that the guide calls `KEY`. */
const KEY = "client-key";
const ADDRESS = "//localhost:4000";

const guide = readFileSync(path.join(root, ".github/guides/agents.md"), "utf8");

/** Returns the code of a section of the guide in a language, for the gateway of the tests. */
function codeOf(section: string, language: string, url: string): string {
  const text = guide.split(/^## /m).find((each) => each.startsWith(`${section}\n`)) ?? "";
  const [, code] = new RegExp(`^\`\`\`${language}\n((?:.|\n)*?)^\`\`\``, "m").exec(text) ?? [];
  if (code === undefined) throw new Error(`no ${language} in the section "${section}"`);
  const local = url.replace(/^https?:/, "");
  const moved = code.replaceAll(ADDRESS, local);
  expect(moved).not.toBe(code);
  return moved;
}

interface GuideConfig {
  readonly llm: {
    readonly policies: { readonly apiKey: { readonly keys: readonly object[] } };
    readonly models: readonly { readonly params: object }[];
  };
}

/** Changes to the gateway of the guide that it asks for. */
interface GuideOptions {
  /** Place of keys in requests. */
  readonly location?: object;
  /** Folder of a certificate, `server.pem` and `server.key`; absent without TLS. */
  readonly folder?: string;
}

/** Starts the gateway of the guide. */
async function startGuide({ location, folder }: GuideOptions = {}): Promise<Gateway> {
  const upstream = await startScripted((response, _count, { url, body }) => {
    const server = upstreamAt(url);
    const said = { text: SAID, reasoning: "", calls: [] };
    if (!isStreamed(url, body.toString("utf8"))) {
      response.writeHead(200, { "content-type": "application/json" }).end(server.whole(said));
      return;
    }
    response.writeHead(200, { "content-type": server.streamType });
    response.end(server.events(said).join(""));
  }, "anything");
  const [, yaml = ""] = /^```yaml\n((?:.|\n)*?)^```/m.exec(guide) ?? [];
  const { llm }: GuideConfig = parse(yaml);
  const keyHash = `sha256:${createHash("sha256").update(KEY).digest("hex")}`;
  return startGateway({
    env: { ANTHROPIC_API_KEY: "own", OPENAI_API_KEY: "own" },
    ...(folder !== undefined && { folder }),
    config: {
      llm: {
        ...llm,
        ...(folder !== undefined && { tls: { cert: "server.pem", key: "server.key" } }),
        port: await freePort(),
        policies: {
          ...llm.policies,
          apiKey: { ...(location && { location }), keys: [{ keyHash }] },
        },
        models: llm.models.map((model) => ({
          ...model,
          params: { ...model.params, hostOverride: upstream.host },
        })),
      },
    },
  });
}

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGuide();
});

/** Returns what a program prints that has no terminal. */
async function outputOf(
  file: string,
  parameters: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const running = promisify(execFile)(file, parameters, {
    ...{ cwd, env: { PATH: process.env.PATH ?? "", HOME: cwd, ...env }, timeout: 240_000 },
  });
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

/** Returns the variables and the parameters of a shell's lines: `export A=1 B=2`, and a program. */
function shellOf(code: string, name: NpmProgram) {
  const lines = code.trim().split("\n");
  const exported = lines.filter((line) => line.startsWith("export ")).join(" ");
  const env = [...exported.matchAll(/(\w+)=(\S+)/g)].map(([, variable = "", value = ""]) => {
    return [variable, value === "KEY" ? KEY : value] as const;
  });
  const [program, ...parameters] = lines.at(-1)?.split(" ") ?? [];
  expect(program).toBe(name);
  return { env: Object.fromEntries(env), parameters };
}

it("Claude Code is served as the guide says", async () => {
  const { env, parameters } = shellOf(codeOf("Claude Code", "sh", gateway.url), "claude");
  const quiet = { ...env, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const file = await npmProgram("claude");
  const output = await outputOf(file, [...parameters, "-p", "Hi"], temporaryFolder(), quiet);
  expect(output).toContain(SAID);
}, 300_000);

it("Codex is served as the guide says", async () => {
  const home = temporaryFolder();
  mkdirSync(path.join(home, ".codex"), { recursive: true });
  writeFileSync(path.join(home, ".codex/config.toml"), codeOf("Codex", "toml", gateway.url));
  const file = await npmProgram("codex");
  const parameters = ["exec", "--skip-git-repo-check", "Hi"];
  expect(await outputOf(file, parameters, home, { GWC_KEY: KEY })).toContain(SAID);
}, 300_000);

itUnless(NOT_LONG)(
  "Gemini CLI is served as the guide says",
  async () => {
    const [, place = ""] = /`apiKey: (\{ location: .*?), keys: \[\.\.\.\] \}`/.exec(guide) ?? [];
    const { url } = await startGuide(parse(`${place} }`));
    const home = temporaryFolder();
    mkdirSync(path.join(home, ".gemini"), { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    };
    writeFileSync(path.join(home, ".gemini/settings.json"), JSON.stringify(settings));
    const { env, parameters } = shellOf(codeOf("Gemini CLI", "sh", url), "gemini");
    const options = [...parameters, "--skip-trust", "--prompt", "Hi"];
    expect(await outputOf(await npmProgram("gemini"), options, home, env)).toContain(SAID);
  },
  300_000,
);

itUnless(NOT_LONG)(
  "opencode is served as the guide says",
  async () => {
    const home = temporaryFolder();
    const config = JSON.parse(codeOf("opencode", "json", gateway.url));
    const [provider] = Object.keys(config.provider);
    const [model] = Object.keys(config.provider[provider ?? ""].models);
    const settings = { ...config, model: `${provider}/${model}`, autoupdate: false };
    writeFileSync(path.join(home, "opencode.json"), JSON.stringify(settings));
    const env = { GWC_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: "1" };
    const parameters = ["run", "--title", "Test", "Hi"];
    expect(await outputOf(await npmProgram("opencode"), parameters, home, env)).toContain(SAID);
  },
  300_000,
);

/** Imports of Python clients, and their questions to every model. */
const python = {
  "OpenAI's SDKs": [
    "from openai import OpenAI",
    "c.chat.completions.create(model=M, messages=[{'role': 'user', 'content': 'Hi'}]).choices[0].message.content",
  ],
  "Anthropic's SDKs": [
    "from anthropic import Anthropic",
    "c.messages.create(model=M, max_tokens=99, messages=[{'role': 'user', 'content': 'Hi'}]).content[0].text",
  ],
} as const;

it.each(Object.entries(python))("%s are served as the guide says", async (section, parts) => {
  const [imports, ask] = parts;
  expect(await askPython(codeOf(section, "python", gateway.url), imports, ask)).toBe(
    `${SAID}\n${SAID}\n`,
  );
});

it("AWS's SDKs are served as the guide says", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "IP:127.0.0.1" });
  const { url } = await startGuide({ folder });
  const said = await askPython(
    codeOf("AWS's SDKs", "python", url),
    "import os, boto3",
    "c.converse(modelId=M, messages=[{'role': 'user', 'content': [{'text': 'Hi'}]}])['output']['message']['content'][0]['text']",
    { AWS_CA_BUNDLE: path.join(folder, "server.pem") },
  );
  expect(said).toBe(`${SAID}\n${SAID}\n`);
});

it("Google's SDKs are served as the guide says", async () => {
  const { url } = await startGuide({ location: { header: { name: "x-goog-api-key" } } });
  const said = await askPython(
    codeOf("Google's SDKs", "python", url),
    "from google import genai",
    "c.models.generate_content(model=M, contents='Hi').text",
  );
  expect(said).toBe(`${SAID}\n${SAID}\n`);
});

/** Asks both models of the guide. The last line of the code makes the client. */
async function askPython(
  code: string,
  imports: string,
  ask: string,
  env: Readonly<Record<string, string>> = {},
  packages: Parameters<typeof pythonFor>[0] = "tests",
): Promise<string> {
  const lines = code.trim().split("\n");
  const last = lines.pop()?.replace(/^client = /, "");
  const script = [
    ...[imports, `KEY = "${KEY}"`, ...lines, `c = ${last}`],
    `for M in ["claude", "gpt-5-mini"]: print(${ask})`,
  ];
  const file = await pythonFor(packages);
  return outputOf(file, ["-c", script.join("\n")], temporaryFolder(), env);
}

/** Returns the models of lines of TypeScript, each of which is an expression. */
function modelsOf<Model>(section: string, names: Readonly<Record<string, unknown>>): Model[] {
  const lines = codeOf(section, "ts", gateway.url).trim().split("\n");
  return lines.map((line) => {
    const make = new Function(...Object.keys(names), "KEY", `return ${line}`);
    return make(...Object.values(names), KEY);
  });
}

it("LangChain is served as the guide says", async () => {
  const models = modelsOf<ChatOpenAI>("LangChain", { ChatOpenAI });
  expect(models.length).toBeGreaterThan(0);
  for (const model of models) expect((await model.invoke("Hi")).text).toBe(SAID);
});

itUnless(NOT_LONG)(
  "LangChain in Python is served as the guide says",
  async () => {
    const said = await askPython(
      codeOf("LangChain", "python", gateway.url),
      "from langchain_openai import ChatOpenAI",
      "c.bind(model=M).invoke('Hi').text",
      { LANGSMITH_TRACING: "false" },
      "langchain",
    );
    expect(said).toBe(`${SAID}\n${SAID}\n`);
  },
  300_000,
);

it("Vercel's SDK is served as the guide says", async () => {
  const models = modelsOf<LanguageModel>("Vercel AI SDK", { createOpenAI, createAnthropic });
  expect(models.length).toBeGreaterThan(1);
  for (const model of models) {
    const { text } = await generateText({ model, prompt: "Hi", maxRetries: 0 });
    expect(text).toBe(SAID);
  }
});
