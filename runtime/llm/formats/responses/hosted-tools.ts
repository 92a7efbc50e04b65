import type { JsonObject } from "../../../cel/variables.ts";
import type { NoteFeature } from "../../chat/features.ts";
import type { McpConnector } from "../../chat/hosted-tools.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { checkTool, onlyTool, refuseIndirect, type ToolTable } from "../../chat/request-fields.ts";
import { type RequestObject, unsupportedField } from "../../chat/request-object.ts";

/** Tools of a request that OpenAI's servers run and other providers have, apart from searches. */
type HostedTools = Pick<ChatRequest, "runsCode" | "connectors">;

/** Whether a type is that of a tool which OpenAI's servers run and other providers have, apart from searches. */
export function isOpenAiHosted(type: unknown): boolean {
  return type === "code_interpreter" || type === "mcp";
}

/** Reads the tools that OpenAI's servers run, of those that a request lists or has found. Throws LlmRefusal. */
export function readOpenAiTools(tools: readonly RequestObject[], note: NoteFeature): HostedTools {
  const code = onlyTool(tools.filter((tool) => tool.any("type") === "code_interpreter"));
  if (code !== undefined) readCode(code, note);
  const servers = tools.filter((tool) => tool.any("type") === "mcp");
  return {
    ...(code && { runsCode: true }),
    connectors: servers.map((server) => readConnector(server, note)),
  };
}

/** A container of OpenAI, its files and its network exist there only. */
function readCode(tool: RequestObject, note: NoteFeature): void {
  note("codeExecution", tool.at("type"));
  checkTool(tool, CODE_MEMBERS);
  refuseIndirect(tool);
  if (typeof tool.any("container") === "string")
    throw unsupportedField(tool.at("type"), "a container of OpenAI");
  const container = tool.object("container");
  if (container === undefined) return;
  checkTool(container, CONTAINER_MEMBERS, tool.at("type"));
}

const CODE_MEMBERS: ToolTable = { type: "read", container: "read", allowed_callers: "read" };

const CONTAINER_MEMBERS: ToolTable = {
  type: "read",
  memory_limit: "dropped",
  file_ids: { limitUnless: [[]] },
};

const SERVER_MEMBERS: ToolTable = {
  type: "read",
  server_label: "read",
  server_url: "read",
  authorization: "read",
  headers: "read",
  allowed_tools: "read",
  allowed_callers: "read",
  require_approval: "read",
  server_description: "dropped",
  defer_loading: "dropped",
};

function readConnector(tool: RequestObject, note: NoteFeature): McpConnector {
  const type = tool.at("type");
  note("connectors", type);
  checkTool(tool, SERVER_MEMBERS);
  refuseIndirect(tool);
  const url = tool.optionalText("server_url");
  if (url === undefined) throw unsupportedField(type, "an MCP server without server_url");
  const allowed = allowedTools(tool);
  if (mayNeedApproval(tool, allowed))
    throw unsupportedField(type, "an MCP server whose calls require approval");
  return { name: tool.text("server_label"), url, token: tokenOf(tool), allowedTools: allowed };
}

/**
 * Whether some of the allowed tools require an approval of each call, for which only OpenAI asks the client. It asks for all
 * tools that the request does not except by name.
 */
function mayNeedApproval(tool: RequestObject, allowed: readonly string[] | undefined): boolean {
  if (tool.any("require_approval") === "never") return false;
  if (typeof tool.any("require_approval") === "string") return true;
  const approval = tool.object("require_approval");
  const [never, always] = [approval?.object("never"), approval?.object("always")];
  // Whether a tool only reads is known to OpenAI's servers, which ask the MCP server.
  const isKnown = [never, always].every((each) => each?.any("read_only") === undefined);
  if (never?.any("tool_names") === undefined || !isKnown) return true;
  const asked = always?.any("tool_names") === undefined ? [] : always.texts("tool_names");
  const free = never.texts("tool_names").filter((name) => !asked.includes(name));
  return allowed?.every((name) => free.includes(name)) !== true;
}

/** Returns the OAuth token for a server. Other providers send no other headers. */
function tokenOf(tool: RequestObject): string | undefined {
  const token = tool.optionalText("authorization");
  const headers = tool.object("headers");
  const [name, ...others] = headers?.keys ?? [];
  if (headers === undefined || name === undefined) return token;
  const [, bearer] = /^Bearer +(.+)$/i.exec(headers.text(name)) ?? [];
  const isToken = name.toLowerCase() === "authorization" && bearer !== undefined;
  if (!isToken || others.length > 0 || token !== undefined)
    throw unsupportedField(tool.at("type"), "an MCP server with headers other than a bearer token");
  return bearer;
}

function allowedTools(tool: RequestObject): readonly string[] | undefined {
  const allowed = tool.any("allowed_tools");
  if (allowed === undefined || Array.isArray(allowed))
    return allowed && tool.texts("allowed_tools");
  const filter = tool.object("allowed_tools");
  // Whether a tool only reads is known to OpenAI's servers, which ask the MCP server.
  if (filter?.any("read_only") !== undefined)
    throw unsupportedField(tool.at("type"), "an MCP server with a filter by read_only");
  return filter?.any("tool_names") === undefined ? undefined : filter.texts("tool_names");
}

/** Writes the tools that OpenAI's servers run, apart from searches. */
export function openAiTools({ runsCode, connectors = [] }: ChatRequest): readonly JsonObject[] {
  return [
    ...(runsCode === true ? [{ type: "code_interpreter", container: { type: "auto" } }] : []),
    ...connectors.map(({ name, url, token, allowedTools: allowed }) => ({
      type: "mcp",
      server_label: name,
      server_url: url,
      authorization: token,
      allowed_tools: allowed,
      require_approval: "never",
    })),
  ];
}
