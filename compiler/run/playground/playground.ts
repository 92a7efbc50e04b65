import { backendOf } from "../../backends/index.ts";
import { CREDENTIALS, type TryRequest } from "../../backends/parts/try-request.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { lastEventData } from "../../model/event-data.ts";
import type { RequestJournal } from "../journal.ts";
import type { JournalEntry } from "../journal-entry.ts";
import { type RouteRequest, requestsTo } from "../try-command.ts";
import { callPort, type PortCall, type PortResult } from "./port-call.ts";

/** A request that a reader of the admin page sends. */
export interface PlaygroundRequest extends Omit<PortCall, "origin"> {
  /** The id of one of the program's routes. */
  readonly route: string;
  /** The caller of a question where nothing is sent: claims or metadata as JSON, or a user's name; nobody if empty. */
  readonly identity?: string;
  /** The message for an MCP route; absent: the body goes as it is. */
  readonly mcp?: McpCall;
}

/** Result of the request. */
export interface PlaygroundResult {
  readonly response?: Pick<PortResult, "status" | "headers" | "body" | "isCut">;
  /** The gateway's notes about it. */
  readonly noted?: JournalEntry | undefined;
  /** Why there is no response. */
  readonly problem?: string;
}

/** The routes that can be tried, each by its first request that is known. */
export function playgroundRoutes(program: Program): readonly RouteRequest[] {
  const candidates = requestsTo(program, () => true);
  const found = servedRoutes(program).map(({ route }) =>
    candidates.find((each) => each.route === route),
  );
  return found.flatMap((first) => first ?? []);
}

/** Whether a route is spoken to in JSON-RPC. */
export function speaksMcp({ route }: RouteRequest): boolean {
  return route.backends.some(({ kind }) => backendOf(kind).protocol === "mcp");
}

/** The credential that a request waits for. */
export function credentialOf({ headers, search }: TryRequest): CredentialField | undefined {
  const text = [...headers, search].join("\n");
  return FIELDS.find(({ placeholder }) => text.includes(placeholder));
}

/** A credential as it is asked for. */
export interface CredentialField {
  /** Placeholder of the credential in headers and in the query. */
  readonly placeholder: string;
  readonly label: string;
  readonly encoding: "plain" | "base64";
  /** The identity of its owner in rules. */
  readonly variable: "jwt" | "apiKey" | "basicAuth";
  /** An owner, as the page may ask about one. */
  readonly owner: string;
}

const FIELDS: readonly CredentialField[] = [
  {
    placeholder: CREDENTIALS.token,
    label: "Token",
    encoding: "plain",
    variable: "jwt",
    owner: '{"sub":"eve"}',
  },
  {
    placeholder: CREDENTIALS.key,
    label: "API key",
    encoding: "plain",
    variable: "apiKey",
    owner: '{"name":"eve"}',
  },
  {
    placeholder: CREDENTIALS.password,
    label: "User:password",
    encoding: "base64",
    variable: "basicAuth",
    owner: "eve",
  },
];

/** Sends a request to the gateway's own port, as any client on this machine could. */
export async function callRoute(
  { route, mcp, identity: _, ...request }: PlaygroundRequest,
  program: Program,
  journal: Pick<RequestJournal, "ofPort">,
): Promise<PlaygroundResult> {
  const found = playgroundRoutes(program).find((each) => each.route.id === route);
  if (found === undefined) return { problem: "there is no such route" };
  const { origin } = found.request;
  try {
    const call = { ...request, origin };
    const result = await (mcp === undefined ? callPort(call) : callMcp(call, mcp));
    const { status, headers, body, isCut, clientPort } = result;
    const noted = isCut ? undefined : await journal.ofPort(clientPort);
    return { response: { status, headers, body, isCut }, noted };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** A message for an MCP route. */
interface McpCall {
  readonly method: string;
  readonly params: unknown;
  /** The protocol of the client: revisions with sessions, or the one without. */
  readonly era: "sessions" | "stateless";
}

/** Address of an MCP route, and the credential for it. */
type McpRoute = Pick<PortCall, "origin" | "target" | "headers">;

const VERSION = "2025-06-18";
const STATELESS_VERSION = "2026-07-28";
const CLIENT = { name: "gwc playground", version: "1" };

/** The response to one message, as a client of its era gets it. */
async function callMcp(route: McpRoute, call: McpCall): Promise<PortResult> {
  const result = await (call.era === "sessions" ? callInSession : callStateless)(route, call);
  return { ...result, body: messageIn(result) };
}

/**
 * The response of a session: a session is opened for it, and ended. It is the response to
 * `initialize` where that was refused.
 */
async function callInSession(route: McpRoute, { method, params }: McpCall): Promise<PortResult> {
  const clientParams = { protocolVersion: VERSION, capabilities: {}, clientInfo: CLIENT };
  const opened = await post(route, { id: 1, method: "initialize", params: clientParams });
  if (opened.status !== 200) return opened;
  const session = opened.headers["mcp-session-id"];
  const own = [
    `mcp-protocol-version: ${VERSION}`,
    ...(typeof session === "string" ? [`mcp-session-id: ${session}`] : []),
  ];
  const inSession = { ...route, headers: [...route.headers, ...own] };
  await post(inSession, { method: "notifications/initialized" });
  const result = await post(inSession, { id: 2, method, params });
  if (typeof session === "string") {
    await callPort({ ...inSession, method: "DELETE", body: "" });
  }
  return result;
}

/** The request contains everything that it needs (MCP 2026-07-28). Questions of the target are shown, and not answered. */
function callStateless(route: McpRoute, { method, params }: McpCall): Promise<PortResult> {
  const given = typeof params === "object" && params !== null ? params : {};
  const { name: named, uri: read }: { name?: unknown; uri?: unknown } = given;
  const name = [named, read].find((each) => typeof each === "string");
  const prefix = "io.modelcontextprotocol";
  const _meta = {
    [`${prefix}/protocolVersion`]: STATELESS_VERSION,
    [`${prefix}/clientCapabilities`]: { elicitation: {}, sampling: {}, roots: {} },
    [`${prefix}/clientInfo`]: CLIENT,
  };
  const own = [
    `mcp-protocol-version: ${STATELESS_VERSION}`,
    `mcp-method: ${method}`,
    ...(name === undefined ? [] : [`mcp-name: ${headerText(name)}`]),
  ];
  const headers = [...route.headers, ...own];
  return post({ ...route, headers }, { id: 1, method, params: { ...given, _meta } });
}

/** A name in a header: what is not visible ASCII, or might be read as this form, is written in base64. */
function headerText(name: string): string {
  if (/^[!-~]+$/.test(name) && !name.startsWith("=?")) return name;
  return `=?base64?${Buffer.from(name).toString("base64")}?=`;
}

function post(route: McpRoute, message: object): Promise<PortResult> {
  const headers = [
    ...route.headers,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
  ];
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return callPort({ ...route, headers, method: "POST", body });
}

/** The response itself, where it came as the last event of a stream. */
function messageIn({ headers, body }: PortResult): string {
  if (headers["content-type"]?.startsWith("text/event-stream") !== true) return body;
  return lastEventData(body) ?? body;
}
