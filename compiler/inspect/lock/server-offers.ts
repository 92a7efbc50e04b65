import {
  ITEM_LIST_NAMES,
  type ItemList,
  itemLists,
} from "../../../runtime/mcp/protocol/item-lists.ts";
import type { ClientMessage, TrialRequest } from "../../../runtime/trial/trial.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { lastEventData } from "../../model/event-data.ts";
import type { LockedInstructions, LockedItem, LockedTarget } from "../../model/tool-lock.ts";
import { hiddenCharacters, visibleText } from "../../model/visible-text.ts";
import { openTrialProgram, type TrialProgram } from "../tests/trial-program.ts";
import type { LockedServer } from "./locked-servers.ts";

/** Offers of a server, or the reason why it could not be listed. */
export type ServerOffer =
  | Pick<LockedTarget, "instructions" | "items">
  | { readonly problem: string };

/**
 * Lists what servers offer, connecting as the gateway does: with its TLS settings, credentials and processes. `headers`, by
 * lower-case name, are those of a client, for servers that need the client's credentials.
 */
export async function serverOffers(
  servers: readonly LockedServer[],
  files: readonly SourceFile[],
  headers: Readonly<Record<string, string>>,
): Promise<readonly ServerOffer[]> {
  const offered: ServerOffer[] = [];
  for (const server of servers) {
    const trial = await openTrialProgram(programOf(server), files, "servers");
    try {
      offered.push(await itemsOf(trial, headers));
    } finally {
      trial.close();
    }
  }
  return offered;
}

async function itemsOf(
  trial: TrialProgram,
  headers: Readonly<Record<string, string>>,
): Promise<ServerOffer> {
  const { instructionsDigest, itemDigests } = await import("gwc/runtime/mcp/protocol/item-digests");
  const discovered = await responseTo(trial, serverRequest("server/discover", undefined, headers));
  if (discovered.result === undefined) return { problem: `server/discover: ${discovered.problem}` };
  const items: LockedItem[] = [];
  const executions = await executionsOf(trial, headers);
  for (const list of ITEM_LIST_NAMES) {
    const found = await wholeList(trial, list, headers);
    if (typeof found === "string") return { problem: found };
    for (const item of found) {
      const execution = list === "tools" ? executions.get(item.name) : undefined;
      const value = execution === undefined ? item.value : { ...item.value, execution };
      const digests = itemDigests(list, JSON.stringify(value)) ?? {};
      items.push(lockedItem(list, item, digests));
    }
  }
  const { instructions } = discovered.result;
  return { instructions: lockedInstructions(instructions, instructionsDigest), items };
}

/** Returns the `execution` member of tools, by name; only clients with sessions see it. */
async function executionsOf(
  trial: TrialProgram,
  headers: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, unknown>> {
  const tools = await wholeList(trial, "tools", headers, "sessions");
  if (typeof tools === "string") return new Map();
  return new Map(tools.map(({ name, value }) => [name, Reflect.get(value, "execution")]));
}

/** An item as a server lists it. */
interface FoundItem {
  readonly name: string;
  readonly value: object;
}

/** Maximum number of pages of a list. */
const MAX_PAGES = 100;

/** Error code of a server that does not have a list (JSON-RPC 2.0, 5.1). */
const METHOD_NOT_FOUND = -32601;

/** Reads all pages of a server's list; returns the reason as a string if that fails. */
async function wholeList(
  trial: TrialProgram,
  list: ItemList,
  headers: Readonly<Record<string, string>>,
  era: ClientMessage["era"] = "stateless",
): Promise<readonly FoundItem[] | string> {
  const { method, nameField } = itemLists[list];
  const items: FoundItem[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { result, code, problem } = await responseTo(
      trial,
      serverRequest(method, cursor, headers, era),
    );
    if (code === METHOD_NOT_FOUND && list !== "tools") return [];
    const found = result?.[list];
    if (!Array.isArray(found)) return `${method}: ${problem}`;
    items.push(...found.flatMap((value) => namedItem(value, nameField) ?? []));
    cursor = result?.nextCursor;
    if (cursor === undefined) return items;
  }
  return `${method}: the list has more than ${MAX_PAGES} pages`;
}

/** Sends a request to a server; returns the result, or the error code and problem. */
async function responseTo(trial: TrialProgram, request: TrialRequest) {
  const { status, body, fields } = await trial.send(request, 1);
  const text = body.trimStart().startsWith("{") ? body : lastEventData(body);
  const { result, error }: RpcResponse = text === undefined ? {} : JSON.parse(text);
  const problem =
    fields.error ?? error?.message ?? (status === undefined ? "no response" : `status ${status}`);
  return { result, code: error?.code, problem };
}

interface RpcResponse {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message?: string; readonly code?: number };
}

function namedItem(value: unknown, key: string): FoundItem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const name: unknown = Object.entries(value).find(([each]) => each === key)?.[1];
  return typeof name === "string" ? { name, value } : undefined;
}

function serverRequest(
  method: string,
  cursor: unknown,
  headers: Readonly<Record<string, string>>,
  era: ClientMessage["era"] = "stateless",
): TrialRequest {
  const params = cursor === undefined ? {} : { cursor };
  return {
    port: PORT,
    isTls: false,
    method: "POST",
    target: "/",
    headers: { host: "localhost", ...headers },
    body: undefined,
    message: { era, method, params, name: undefined, capabilities: CAPABILITIES },
    address: "127.0.0.1",
    identities: {},
    servers: {},
    response: { status: 200, headers: {}, body: "" },
  };
}

const PORT = 80;

/** All client capabilities: servers offer some tools only to clients that have them. */
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

/** Creates a gateway with one server and without access control. */
function programOf({ node, program }: LockedServer): Program {
  const { accessLog: _, tracing: __, requestId: ___, ...rest } = program;
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
    admission: [],
    preRouting: undefined,
    routes: [route],
    table: [{ hostname: "*", shared: "*", entries: [{ match, route: route.id }] }],
    origin,
  };
  const bind: BindNode = {
    port: PORT,
    address: undefined,
    proxyProtocol: undefined,
    origin,
    tls: undefined,
    listeners: [listener],
    hostnames: [{ hostname: listener.hostname, listener: listener.id }],
  };
  return { ...rest, binds: [bind], tcp: [] };
}

/** Locks the instructions even if they are not a string, as clients might still use them. */
function lockedInstructions(
  given: unknown,
  digestOf: (instructions: string) => string,
): LockedInstructions | undefined {
  if (given === undefined) return undefined;
  const text = JSON.stringify(given);
  return {
    text: firstWords(typeof given === "string" ? given : text),
    hidden: hiddenIn(given),
    digest: digestOf(text),
  };
}

/** Maximum length of a description in a lock, in characters. */
const FIRST_WORDS = 200;

function lockedItem(
  list: ItemList,
  { name, value }: FoundItem,
  digests: LockedItem["digests"],
): LockedItem {
  const written = "description" in value ? value.description : undefined;
  const description = typeof written === "string" ? firstWords(written) : "";
  const given = list === "tools" ? argumentNames(value) : undefined;
  const hidden = hiddenIn(value);
  return { list, name, description, hidden, digests, ...(given && { arguments: given }) };
}

/** Returns the names of a tool's arguments, sorted; `undefined` if its schema may allow others. */
function argumentNames(tool: object): readonly string[] | undefined {
  const schema: unknown = "inputSchema" in tool ? tool.inputSchema : undefined;
  if (typeof schema !== "object" || schema === null) return undefined;
  if (OPEN_KEYWORDS.some((keyword) => keyword in schema)) return undefined;
  const properties: unknown = "properties" in schema ? schema.properties : {};
  if (typeof properties !== "object" || properties === null) return undefined;
  return Object.keys(properties).toSorted();
}

/** Keywords of schemas that may add properties. */
const OPEN_KEYWORDS = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"];

function firstWords(text: string): string {
  const seen = visibleText(text).trim();
  if (seen.length <= FIRST_WORDS) return seen;
  return `${seen.slice(0, FIRST_WORDS).replace(/\S*$/, "")}...`;
}

function hiddenIn(value: unknown): number {
  return textsOf(value).reduce((count, text) => count + hiddenCharacters(text), 0);
}

/** Lists all strings in a value, including keys. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
}
