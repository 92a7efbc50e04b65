import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { lastEventData } from "../../model/event-data.ts";
import type { AskingCalls } from "./asking-calls.ts";
import { answersEvents, type McpRoute, mcpPost, PLAYGROUND_CLIENT } from "./mcp-message.ts";
import { callPort, type PortResult } from "./port-call.ts";
import { SessionCall } from "./session-call.ts";

/** A message for an MCP route. */
export interface McpCall {
  readonly method: string;
  readonly params: unknown;
  /** The protocol of the client: revisions with sessions, or the one without. */
  readonly era: "sessions" | "stateless";
}

const STATELESS_VERSION = "2026-07-28";

/**
 * Returns the response to one message, as a client of its era gets it. A question of a server in a session has the form
 * that it has without sessions (MCP 2026-07-28): responses come with the state of the question.
 */
export async function callMcp(
  route: McpRoute,
  call: McpCall,
  waiting: { readonly route: string; readonly pending: AskingCalls },
): Promise<PortResult> {
  if (call.era === "stateless") {
    const result = await callStateless(route, call);
    return { ...result, body: messageIn(result) };
  }
  return callInSession(route, call, waiting);
}

async function callInSession(
  route: McpRoute,
  { method, params }: McpCall,
  { route: id, pending }: { readonly route: string; readonly pending: AskingCalls },
): Promise<PortResult> {
  const { requestState, inputResponses } = isJsonObject(params) ? params : {};
  const open = typeof requestState === "string" ? pending.take(id, requestState) : undefined;
  if (requestState !== undefined && open === undefined)
    throw new Error("the call has ended, because its question had no response for too long");
  const call = open ?? (await SessionCall.open(route, { method, params }));
  if (!(call instanceof SessionCall)) return { ...call, body: messageIn(call) };
  try {
    if (open !== undefined) await call.respond(isJsonObject(inputResponses) ? inputResponses : {});
    const next = await call.next();
    if (next.kind === "result") {
      await call.end();
      return { ...next.result, body: messageIn(next.result) };
    }
    const state = pending.add(id, call);
    const inputRequests = { [next.id]: { method: next.method, params: next.params } };
    const result = { resultType: "input_required", inputRequests, requestState: state };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result });
    return { status: 200, headers: {}, body, isCut: false, clientPort: undefined };
  } catch (error) {
    await call.end();
    throw error;
  }
}

/** The request contains everything that it needs (MCP 2026-07-28). */
function callStateless(route: McpRoute, { method, params }: McpCall): Promise<PortResult> {
  const given = isJsonObject(params) ? params : {};
  const name = [given.name, given.uri].find((each) => typeof each === "string");
  const prefix = "io.modelcontextprotocol";
  const _meta = {
    [`${prefix}/protocolVersion`]: STATELESS_VERSION,
    [`${prefix}/clientCapabilities`]: { elicitation: {}, sampling: {}, roots: {} },
    [`${prefix}/clientInfo`]: PLAYGROUND_CLIENT,
  };
  const own = [
    `mcp-protocol-version: ${STATELESS_VERSION}`,
    `mcp-method: ${method}`,
    ...(name === undefined ? [] : [`mcp-name: ${headerText(name)}`]),
  ];
  const headers = [...route.headers, ...own];
  const message = { id: 1, method, params: { ...given, _meta } };
  return callPort(mcpPost({ ...route, headers }, message));
}

/** A name in a header: what is not visible ASCII, or might be read as this form, is written in base64. */
function headerText(name: string): string {
  if (/^[!-~]+$/.test(name) && !name.startsWith("=?")) return name;
  return `=?base64?${Buffer.from(name).toString("base64")}?=`;
}

/** The response itself, where it came as the last event of a stream. */
function messageIn(result: PortResult): string {
  const { body } = result;
  return answersEvents(result) ? (lastEventData(body) ?? body) : body;
}
