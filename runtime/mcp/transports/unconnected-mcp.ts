import { randomUUID } from "node:crypto";
import type {
  LocalResponse,
  UnconnectedServer,
  UserConnectionUse,
} from "../../auth/connections/connected-upstream.ts";
import { pageOf } from "../../auth/connections/pages.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { UpstreamCall } from "../../http/upstream/upstream.ts";
import { calledName } from "../protocol/called-tool.ts";
import { hasEnvelope } from "../protocol/envelope.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { SESSION_REVISIONS } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";

/** Name of the tool that users without a connection see. */
const TOOL = "connect_account";
/** Begins the session ids of users without a connection. The second one is of clients that open URLs for their users. */
const PLAIN = "gwc-unconnected.";
const WITH_URLS = "gwc-unconnected-url.";
/** A client has to open a URL before a request can be served (MCP 2025-11-25). */
const URL_REQUIRED = -32042;

const JSON_TYPE = ["content-type", "application/json"] as const;

/**
 * An MCP server for users who have not connected their account: it has one tool, whose call asks the client to open the page
 * where they connect. Calls of other tools do the same, because clients may know them already.
 */
export function unconnectedMcp(use: UserConnectionUse): UnconnectedServer {
  return {
    respond: (call, body) => respond(call, body, use),
    intercept: (call, body) => {
      if (sessionOf(call).startsWith("gwc-unconnected")) return sessionEnded(body);
      const message = call.method === "POST" ? readMessage(body) : undefined;
      if (message === undefined || message.kind === "problem") return undefined;
      return calledName(message) === TOOL ? connected(message, use) : undefined;
    },
  };
}

/** An HTTP API for users who have not connected their account. */
export function unconnectedApi(use: UserConnectionUse): UnconnectedServer {
  const respond = (): LocalResponse => ({
    status: 401,
    headers: ["content-type", "text/plain; charset=utf-8"],
    body: request(use),
  });
  return { respond, intercept: () => undefined };
}

function sessionOf({ headers }: UpstreamCall): string {
  return headerValue(headers, "mcp-session-id") ?? "";
}

function respond(call: UpstreamCall, body: string, use: UserConnectionUse): LocalResponse {
  if (call.method === "DELETE") return { status: 204, headers: [], body: "" };
  if (call.method !== "POST") return { status: 405, headers: ["allow", "POST"], body: "" };
  const message = readMessage(body);
  if (message.kind === "problem")
    return json(rpcError(message.id, message.code, message.message), 400);
  if (message.kind !== "request") return { status: 202, headers: [], body: "" };
  const { id } = message;
  switch (message.method) {
    case "initialize":
      return opened(message, use);
    case "ping":
      return json(rpcResult(id, "{}"));
    case "tools/list":
      return result(message, { tools: [toolOf(use)] });
    case "prompts/list":
      return result(message, { prompts: [] });
    case "resources/list":
      return result(message, { resources: [] });
    case "resources/templates/list":
      return result(message, { resourceTemplates: [] });
    case "tools/call":
      return asked(call, message, use);
    default:
      return json(rpcError(id, rpcCode.methodNotFound, "Method not found"));
  }
}

/** Sessions of users without a connection end when they connect, so that gateways and clients open one with the server. */
function sessionEnded(body: string): LocalResponse {
  const message = readMessage(body);
  const id = message.kind === "request" ? message.id : "null";
  return json(rpcError(id, -32001, "Session not found"), 404);
}

function opened(message: Message, use: UserConnectionUse): LocalResponse {
  const params =
    message.params === undefined ? {} : JSON.parse(textAt(message.text, message.params));
  const { protocolVersion, capabilities } = Object(params);
  const opensUrls = Object(Object(capabilities).elicitation).url !== undefined;
  const text = JSON.stringify({
    protocolVersion: SESSION_REVISIONS.has(protocolVersion) ? protocolVersion : "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: use.name, version: "1" },
    instructions: `The user has to connect an account first: call ${TOOL}.`,
  });
  const id = `${opensUrls ? WITH_URLS : PLAIN}${randomUUID()}`;
  return {
    status: 200,
    headers: [...JSON_TYPE, "mcp-session-id", id],
    body: rpcResult(message.id, text),
  };
}

function toolOf({ name }: UserConnectionUse) {
  return {
    name: TOOL,
    title: `Connect ${name}`,
    description: `Connects the user's account at ${name}. Its tools are available after that.`,
    inputSchema: { type: "object", properties: {} },
  };
}

/** Asks the client to open the page. Clients that cannot do that show the URL to their user. */
function asked(call: UpstreamCall, message: Message, use: UserConnectionUse): LocalResponse {
  if (sessionOf(call).startsWith(WITH_URLS)) {
    const elicitation = {
      mode: "url",
      elicitationId: randomUUID(),
      url: pageOf(use),
      message: `Connect your account at ${use.name}.`,
    };
    const data = { elicitations: [elicitation] };
    return json(rpcError(message.id, URL_REQUIRED, request(use), data));
  }
  return result(message, { content: [{ type: "text", text: request(use) }], isError: true });
}

function connected(message: Message, { name }: UserConnectionUse): LocalResponse {
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const text = `The account at ${name} is connected. List the tools again.`;
  const done = result(message, { content: [{ type: "text", text }] });
  if (hasEnvelope(message)) return done;
  const events = [JSON.stringify(changed), done.body].map((data) => `data: ${data}\n\n`);
  return { status: 200, headers: ["content-type", "text/event-stream"], body: events.join("") };
}

function result(message: Message, given: object): LocalResponse {
  const isList = message.method.endsWith("/list");
  const more = hasEnvelope(message)
    ? { resultType: "complete", ...(isList && { ttlMs: 0, cacheScope: "private" }) }
    : {};
  return json(rpcResult(message.id, JSON.stringify({ ...given, ...more })));
}

function json(body: string, status = 200): LocalResponse {
  return { status, headers: JSON_TYPE, body };
}

function request(use: UserConnectionUse): string {
  return `Open ${pageOf(use)} in a browser to connect your account at ${use.name}, then try again.`;
}
