import { fileURLToPath } from "node:url";
import { type Case, type Cost, compare } from "./compare.ts";
import { type Pace, start } from "./duel.ts";

/** Measures chats through a gateway, compared with the same bytes through a plain proxy. */
export interface LlmCosts {
  /** The request. */
  readonly name: string;
  readonly costs: readonly Cost[];
}

/** The CPU of both gateways for as many completions: the first is this one's, of the same format on both sides. */
export type PortkeyCosts = readonly Cost[];

/** The provider's side: the client's format, or another one. */
export const llmCases = ["same format", "translated"] as const;

/** Maximum CPU compared with the plain proxy: with the same format on both sides, and with a translation. */
export const llmGoals: Readonly<Record<string, readonly [same: number, translated: number]>> = {
  whole: [1.12, 1.6],
  stream: [1.25, 1.5],
  "whole responses": [1.18, 1.6],
  "streams of responses": [1.25, 1.5],
};

/** Maximum CPU of a guarded completion compared with the same one without guards. */
export const GUARDED = 1.3;

/** How many times the work of Portkey's gateway is done with the same CPU. */
export const portkeyGoals = { "same format": 10, translated: 6 } as const;

/**
 * Rates that even the slowest case keeps. Turns are short, so that other load of the machine affects all alike, and
 * long compared with the time in which a processor's caches forget one gateway for another.
 */
const steady = {
  // V8 compiles the code of a call until it has served about so many.
  whole: { requests: 1_000, rate: 2_000, warmUp: 20_000 },
  // Each of them is a hundred writes.
  stream: { requests: 60, rate: 120, warmUp: 3_000 },
};

/**
 * Measures completions of 2 KB of prompt, whole and as streams of 100 pieces, at the same rate for all cases; then the same
 * through the Responses API.
 */
export function measureLlm(pace: Pace): Promise<readonly LlmCosts[]> {
  const rounds = 5 * pace.rounds;
  return withUpstream(async (host) => {
    const measured: LlmCosts[] = [];
    for (const name of ["whole", "stream"] as const) {
      const own = { ...pace, ...steady[name], rounds };
      measured.push({ name, costs: await compare(cases(host, name === "stream"), host, own) });
    }
    for (const [name, as] of [
      ["whole responses", "whole"],
      ["streams of responses", "stream"],
    ] as const) {
      const own = { ...pace, ...steady[as], rounds };
      measured.push({ name, costs: await compare(responses(host, as === "stream"), host, own) });
    }
    return measured;
  });
}

/**
 * Measures whole ones through Portkey's gateway, where it is installed, and through this one, each as fast as it is. Portkey's
 * streams nothing on this version of Node.js.
 */
export async function measurePortkey(pace: Pace): Promise<PortkeyCosts> {
  if (process.env.PORTKEY === undefined) return [];
  const script = fileURLToPath(new URL("portkey.ts", import.meta.url));
  return withUpstream((host) => {
    const provider = (name: string): readonly string[] => [
      request(false, [`x-portkey-provider: ${name}`, `x-portkey-custom-host: http://${host}/v1`]),
    ];
    const ours = llmCases.flatMap((name) =>
      cases(host, false).filter((each) => each.name === name),
    );
    const name = "Portkey, same format";
    const other = { routes: [], warmUp: PORTKEY_COMPILED };
    const theirs: readonly Case[] = [
      { name, ...other, requests: provider("openai"), script },
      { name: "Portkey, translated", ...other, requests: provider("anthropic"), gateway: name },
    ];
    return compare([...ours, ...theirs], host, { ...pace, requests: 2_000 });
  });
}

/** It serves some hundred per second: so many are enough to compile what it does. */
const PORTKEY_COMPILED = 8_000;

/** Starts a provider for some work. */
export async function withUpstream<Result>(
  work: (host: string) => Promise<Result>,
): Promise<Result> {
  const script = fileURLToPath(new URL("llm-upstream.ts", import.meta.url));
  const upstream = await start({ script, environment: {} }, "");
  try {
    return await work(`127.0.0.1:${upstream.port}`);
  } finally {
    upstream.process.kill("SIGKILL");
  }
}

/** The five patterns that have names. */
const guard = {
  regex: {
    rules: ["ssn", "creditCard", "phoneNumber", "email", "caSin"].map((builtin) => ({ builtin })),
  },
};

function cases(host: string, stream: boolean): readonly Case[] {
  const requests = [request(stream, [])];
  const one = (name: string, backend: object): Case => ({
    name,
    routes: [{ name: "chat", backends: [backend] }],
    requests,
  });
  return [
    one("plain", { host }),
    { ...one("plain again", { host }), gateway: "plain" },
    one("same format", { ai: { provider: { openAI: {} }, hostOverride: host } }),
    {
      name: "guarded",
      routes: [
        {
          name: "chat",
          policies: { ai: { promptGuard: { request: [guard], response: [guard] } } },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
        },
      ],
      requests,
    },
    one("translated", { ai: { provider: { anthropic: {} }, hostOverride: host } }),
  ];
}

/** The Responses API on both sides, and at the provider of a client of chat completions. */
function responses(host: string, stream: boolean): readonly Case[] {
  const same = [responsesRequest(stream)];
  const one = (name: string, requests: readonly string[], backend: object, policies?: object) => ({
    name,
    routes: [{ name: "responses", policies, backends: [backend] }],
    requests,
  });
  const ai = (api: string) => ({ ai: { provider: { openAI: { api } }, hostOverride: host } });
  return [
    one("plain", same, { host }),
    { ...one("plain again", same, { host }), gateway: "plain" },
    one("same format", same, ai("auto"), { ai: { routes: { "*": "responses" } } }),
    one("translated", [request(stream, [])], ai("responses")),
  ];
}

function responsesRequest(stream: boolean): string {
  return post("/v1/responses", [], {
    ...{ model: "gpt-5", stream, max_output_tokens: 500, store: false },
    ...{ instructions: "Be brief.", input: "word ".repeat(370) },
  });
}

/** Returns a request for a completion, with a prompt of 2 KB. */
export function request(stream: boolean, headers: readonly string[]): string {
  return post("/v1/chat/completions", headers, {
    model: "gpt-5",
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
    max_completion_tokens: 500,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "word ".repeat(370) },
    ],
  });
}

function post(path: string, headers: readonly string[], value: object): string {
  const body = JSON.stringify(value);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: api.example.com",
    "Content-Type: application/json",
    "Authorization: Bearer key",
    ...headers,
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
