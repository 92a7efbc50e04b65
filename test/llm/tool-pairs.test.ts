import { readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { isJsonObject } from "../../runtime/json/json-object.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { root } from "../harness/root.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { clients } from "./table/pairs.ts";
import { respond } from "./table/respond.ts";
import { optionalMembers, type ToolCase, toolCases, toolHints } from "./table/tool-cases.ts";

/** The APIs of providers, by the names of their columns. */
const providers = {
  "OpenAI, Responses": [{ openai: { api: "responses" } }, "gpt-5"],
  "OpenAI, chat completions": [{ openai: { api: "completions" } }, "gpt-5"],
  Anthropic: [{ anthropic: {} }, "claude-1"],
  Gemini: [{ gemini: {} }, "gemini-3-pro-preview"],
  "Vertex AI, Claude": [{ vertexai: { projectId: "p" } }, "claude-1"],
  Bedrock: [{ bedrock: {} }, "anthropic.claude-1-v1:0"],
} as const;

type Provider = keyof typeof providers;

const modes = ["reject", "drop"] as const;

let upstream: Scripted;
let gateways: Readonly<Record<(typeof modes)[number], Gateway>>;

beforeAll(async () => {
  // The newest tools are no part of the providers' documents.
  upstream = await startScripted(respond, "anything");
  const [reject, drop] = await Promise.all(modes.map(startClients));
  if (reject === undefined || drop === undefined) throw new Error("no gateways");
  gateways = { reject, drop };
});

function startClients(unsupported: string): Promise<Gateway> {
  const routes = Object.entries(clients).flatMap(([client, { path: own = "", type = client }]) =>
    Object.values(providers).map(([provider], index) => ({
      name: `${client}-${index}`,
      matches: [{ path: { pathPrefix: `/${client}/${index}` } }],
      policies: {
        backendAuth: { key: "${KEY}" },
        ai: { unsupported, routes: { [own]: type } },
      },
      backends: [{ ai: { provider, hostOverride: upstream.host } }],
    })),
  );
  return startGateway({ env: { KEY: "provider-key" }, listeners: [{ routes }] });
}

/** The result of a request. */
interface Asked {
  readonly status: number;
  readonly body: string;
  readonly dropped: readonly string[];
  /** Request to the provider; `undefined` if it got none. */
  readonly sent: unknown;
  /** Whether the provider got the client's own format. */
  readonly isOwn: boolean;
}

async function ask(
  mode: (typeof modes)[number],
  client: string,
  provider: Provider,
  own: object,
): Promise<Asked> {
  const [, model] = providers[provider];
  const index = Object.keys(providers).indexOf(provider);
  const before = upstream.received.length;
  const { path: at, body } = requestOf(client, model, own);
  const url = `${gateways[mode].url}/${client}/${index}${at}`;
  const type = { "content-type": "application/json" };
  const answer = await send(url, "POST", type, JSON.stringify(body));
  const [received] = upstream.received.slice(before);
  const dropped = answer.headers["x-llm-dropped"] ?? "";
  return {
    ...{ status: answer.status, body: answer.body },
    dropped: dropped === "" ? [] : String(dropped).split(", "),
    sent: received && sentBody(JSON.parse(received.body.toString())),
    isOwn: received !== undefined && OWN_PATHS[client]?.test(received.url) === true,
  };
}

/** Paths of each client's own format at providers. */
const OWN_PATHS: Readonly<Record<string, RegExp>> = {
  completions: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$|:rawPredict$/,
  "generate-content": /:generateContent$/,
  converse: /\/converse$/,
};

/** Without what asks for details of results of hosted tools. */
function sentBody(body: unknown): unknown {
  return isJsonObject(body) ? { ...body, include: undefined } : body;
}

function requestOf(client: string, model: string, own: object) {
  const content = "[text] Hello.";
  switch (client) {
    case "completions":
      return {
        path: "/v1/chat/completions",
        body: { model, messages: [{ role: "user", content }], ...own },
      };
    case "responses":
      return { path: "/v1/responses", body: { model, input: content, ...own } };
    case "messages": {
      const messages = [{ role: "user", content }];
      return { path: "/v1/messages", body: { model, max_tokens: 4000, messages, ...own } };
    }
    case "generate-content": {
      const contents = [{ role: "user", parts: [{ text: content }] }];
      return { path: `/v1beta/models/${model}:generateContent`, body: { contents, ...own } };
    }
    default: {
      const messages = [{ role: "user", content: [{ text: content }] }];
      return { path: `/model/${model}/converse`, body: { messages, ...own } };
    }
  }
}

/** Tries a tool, and returns what a provider gets of it: its cell in the table. Adds what is wrong to `faults`. */
async function tryTool(
  client: string,
  provider: Provider,
  { name, tool, whole }: ToolCase,
  plain: unknown,
  faults: string[],
): Promise<string> {
  const { status, body, sent, isOwn } = await ask("reject", client, provider, tool);
  if (isOwn) {
    if (!isDeepStrictEqual(Object(sent).tools, Object(tool).tools)) faults.push(`${name} changed`);
    return "passes";
  }
  if (sent !== undefined) return isDeepStrictEqual(sent, plain) ? "left out" : "translated";
  if (status !== 400 || !body.includes(whole)) faults.push(`${name}: ${status} ${body}`);
  const lenient = await ask("drop", client, provider, tool);
  const isNamed = lenient.dropped.some((each) => each.startsWith(whole));
  if (lenient.status !== 200 || !isNamed || hasTools(lenient.sent))
    faults.push(`${name}, drop: ${lenient.status} ${lenient.body} ${JSON.stringify(lenient.sent)}`);
  return "400";
}

/** Tries a member of a tool that a provider gets, and returns its path if it is left out without a word. */
async function tryMember(
  client: string,
  provider: Provider,
  { name, tool, member = "", whole }: ToolCase,
  base: unknown,
  faults: string[],
): Promise<readonly string[]> {
  const { status, body, sent } = await ask("reject", client, provider, tool);
  if (sent !== undefined) return isDeepStrictEqual(sent, base) ? [member] : [];
  if (status !== 400 || !body.includes(whole)) faults.push(`${name}: ${status} ${body}`);
  const lenient = await ask("drop", client, provider, tool);
  if (lenient.status !== 200 || !lenient.dropped.some((each) => each.startsWith(whole)))
    faults.push(`${name}, drop: ${lenient.status} ${lenient.body}`);
  // Without a member that limits it, a tool could do what the client excludes.
  const isKept = optionalMembers.has(member);
  if (isKept ? !isDeepStrictEqual(lenient.sent, base) : hasTools(lenient.sent))
    faults.push(`${name}, drop: ${JSON.stringify(lenient.sent)}`);
  return [];
}

/** Whether a request to a provider has any tool. */
function hasTools(sent: unknown): boolean {
  const names = ["tools", "toolConfig", "mcp_servers", "web_search_options"];
  return names.some((name) => Object(sent)[name] !== undefined);
}

const columns = Object.keys(providers).filter((name): name is Provider => name in providers);

it("no tool, and no member of one, is lost in silence or refused without its name", async () => {
  const faults: string[] = [];
  const rows = new Map<string, string[]>();
  const left = new Map<string, Set<string>>();
  for (const client of Object.keys(clients)) {
    for (const provider of columns) {
      const { sent: plain } = await ask("reject", client, provider, {});
      for (const tool of toolCases(client)) {
        const found: string[] = [];
        const cell = await tryTool(client, provider, tool, plain, found);
        const row = rows.get(`${client} | ${tool.name}`) ?? [];
        rows.set(`${client} | ${tool.name}`, [...row, cell]);
        const { sent: base } = await ask("reject", client, provider, tool.tool);
        for (const each of cell === "translated" ? tool.members : []) {
          for (const lost of await tryMember(client, provider, each, base, found)) {
            const whom = left.get(`${client} ${lost}`) ?? new Set();
            left.set(`${client} ${lost}`, whom.add(provider));
          }
        }
        faults.push(...found.map((fault) => `${client}, ${provider}: ${fault}`));
      }
    }
  }
  expect(faults).toEqual([]);
  expect(Object.fromEntries([...left].map(([key, whom]) => [key, [...whom].join("; ")]))).toEqual(
    toolHints,
  );
  const guide = readFileSync(path.join(root, ".github/guides/models.md"), "utf8");
  const named = Object.keys(toolHints).filter((hint) =>
    guide.includes(hint.split(/[ .]/).at(-1) ?? hint),
  );
  expect(named).toEqual(Object.keys(toolHints));
  const file = path.join(root, ".github/reference/llm-tools.md");
  await expect(tableText(rows)).toMatchFileSnapshot(file);
}, 600_000);

function tableText(rows: ReadonlyMap<string, readonly string[]>): string {
  const head = ["client", "tool", ...columns];
  return [
    "# Models: every tool with every provider",
    "",
    "The result of each tool of the SDKs of OpenAI, Anthropic, Google and AWS at each provider, as `test/llm/tool-pairs.test.ts`",
    "finds it with a compiled gateway. `npx vitest run test/llm/tool-pairs.test.ts -u` writes this page.",
    "",
    "| cell | meaning |",
    "| --- | --- |",
    "| passes | the provider has the client's API, and gets the tool as it is |",
    "| translated | the provider gets a tool of its own, or a function |",
    "| left out | the completion is right without it: a search for tools, of which all are listed |",
    "| 400 | the request is refused with an error that names the tool. With `unsupported: drop`, the tool is left out |",
    "",
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...[...rows].map(([name, cells]) => `| ${name} | ${cells.join(" | ")} |`),
    "",
  ].join("\n");
}
