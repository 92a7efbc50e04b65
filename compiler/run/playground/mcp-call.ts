import { lastEventData } from "../../model/event-data.ts";
import { callPort, type PortCall, type PortResult } from "./port-call.ts";

/** A message for an MCP route. */
export interface McpCall {
  readonly method: string;
  readonly params: unknown;
  /** The protocol of the client: revisions with sessions, or the one without. */
  readonly era: "sessions" | "stateless";
}

/** Address of an MCP route, and the credential for it. */
export type McpRoute = Pick<PortCall, "origin" | "target" | "headers">;

const VERSION = "2025-06-18";
const STATELESS_VERSION = "2026-07-28";
const CLIENT = { name: "gwc playground", version: "1" };

/** The response to one message, as a client of its era gets it. */
export async function callMcp(route: McpRoute, call: McpCall): Promise<PortResult> {
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
  const name = "name" in given && typeof given.name === "string" ? given.name : undefined;
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
