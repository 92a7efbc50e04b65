import type { TrialRequest } from "../../../runtime/trial/trial.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { lastEventData } from "../../model/event-data.ts";
import type { LockedTool } from "../../model/tool-lock.ts";
import { hiddenCharacters, visibleText } from "../../model/visible-text.ts";
import { openTrialProgram, type TrialProgram } from "../tests/trial-program.ts";
import type { LockedServer } from "./locked-servers.ts";

/** What a server offers now, or why nobody knows. */
export type OfferedTools = { readonly tools: readonly LockedTool[] } | { readonly problem: string };

/**
 * Asks servers for their tools, as the gateway of their program reaches them: with its TLS, its credentials, its processes.
 * `headers`, by lower-case name, are those of a client whose credentials go on to a server.
 */
export async function offeredTools(
  servers: readonly LockedServer[],
  files: readonly SourceFile[],
  headers: Readonly<Record<string, string>>,
): Promise<readonly OfferedTools[]> {
  const { toolDigests } = await import("gwc/runtime/mcp/protocol/tool-digests");
  const offered: OfferedTools[] = [];
  for (const server of servers) {
    const trial = await openTrialProgram(programOf(server), files, "servers");
    try {
      const found = await allTools(trial, headers);
      offered.push(
        typeof found === "string"
          ? { problem: found }
          : { tools: found.map((tool) => lockedTool(tool, toolDigests(JSON.stringify(tool)))) },
      );
    } finally {
      trial.close();
    }
  }
  return offered;
}

/** A tool as a server lists it. */
interface ListedTool {
  readonly name: string;
  readonly description?: unknown;
}

/** The most pages of a list. */
const MAX_PAGES = 100;

/** All pages of a server's list; a string is why there is none. */
async function allTools(
  trial: TrialProgram,
  headers: Readonly<Record<string, string>>,
): Promise<readonly ListedTool[] | string> {
  const tools: ListedTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const outcome = await trial.send(listRequest(cursor, headers), 1);
    const { status, body, fields } = outcome;
    const text = body.trimStart().startsWith("{") ? body : lastEventData(body);
    const { result, error }: ListResponse = text === undefined ? {} : JSON.parse(text);
    if (!Array.isArray(result?.tools))
      return fields.error ?? error?.message ?? `it responded ${status ?? "nothing"}`;
    tools.push(...result.tools.filter(isTool));
    cursor = result.nextCursor;
    if (cursor === undefined) return tools;
  }
  return `its list has more than ${MAX_PAGES} pages`;
}

interface ListResponse {
  readonly result?: { readonly tools?: unknown; readonly nextCursor?: unknown };
  readonly error?: { readonly message?: string };
}

function isTool(value: unknown): value is ListedTool {
  return (
    typeof value === "object" && value !== null && "name" in value && typeof value.name === "string"
  );
}

function listRequest(cursor: unknown, headers: Readonly<Record<string, string>>): TrialRequest {
  const params = cursor === undefined ? {} : { cursor };
  return {
    port: PORT,
    isTls: false,
    method: "POST",
    target: "/",
    headers: { host: "localhost", ...headers },
    body: undefined,
    message: { method: "tools/list", params, name: undefined, capabilities: CAPABILITIES },
    address: "127.0.0.1",
    identities: {},
    servers: {},
    response: { status: 200, headers: {}, body: "" },
  };
}

const PORT = 80;

/** Servers offer some tools only to clients that can do what those ask for. */
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

/** A gateway that leads to one server, and lets everybody in. */
function programOf({ node, program }: LockedServer): Program {
  const { accessLog: _, tracing: __, requestId: ___, ...kept } = program;
  const { origin } = node;
  const route: RouteNode = { id: "tools", name: "tools", policies: [], backends: [node], origin };
  const match = {
    path: { kind: "prefix", value: "/" },
    method: undefined,
    headers: [],
    query: [],
    isDerived: false,
    origin,
  } as const;
  const listener: ListenerNode = {
    id: "listener",
    name: "listener",
    hostname: "*",
    tls: undefined,
    pathHandling: "canonical",
    preRouting: undefined,
    routes: [route],
    table: [{ hostname: "*", shared: "*", entries: [{ match, route: route.id }] }],
    origin,
  };
  const bind = { port: PORT, address: undefined, proxyProtocol: undefined, origin, tls: undefined };
  return { ...kept, binds: [{ ...bind, listeners: [listener] }], tcp: [] };
}

/** The most characters of a description that stand in a lock. */
const FIRST_WORDS = 200;

function lockedTool(tool: ListedTool, digests: LockedTool["digests"] | undefined): LockedTool {
  const said = typeof tool.description === "string" ? visibleText(tool.description).trim() : "";
  const first =
    said.length > FIRST_WORDS ? `${said.slice(0, FIRST_WORDS).replace(/\S*$/, "")}...` : said;
  return {
    name: tool.name,
    description: first,
    hidden: textsOf(tool).reduce((count, text) => count + hiddenCharacters(text), 0),
    digests: digests ?? {},
  };
}

/** Every text in a value, keys included. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
}
