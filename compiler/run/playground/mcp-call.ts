import { lastEventData } from "../../model/event-data.ts";
import { callPort, type PortCall, type PortResult } from "./port-call.ts";

/** A message for an MCP route. */
export interface McpCall {
  readonly method: string;
  readonly params: unknown;
}

/** Where an MCP route is, and as whom it is called. */
export type McpRoute = Pick<PortCall, "origin" | "target" | "headers">;

const VERSION = "2025-06-18";
const CLIENT = { name: "gwc playground", version: "1" };

/**
 * The response to one message, as a client gets it: a session is opened for it, and ended. It is the response to
 * `initialize` where that was refused.
 */
export async function callMcp(route: McpRoute, { method, params }: McpCall): Promise<PortResult> {
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
  return { ...result, body: messageIn(result) };
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
