import type { JsonObject } from "../../../cel/variables.ts";
import type { NoteFeature } from "../../chat/features.ts";
import type { McpConnector, WebFetch } from "../../chat/hosted-tools.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { refuseField } from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField } from "../../chat/request-object.ts";

/** Tools of a request that the provider runs, apart from searches. */
type HostedTools = Pick<ChatRequest, "webFetch" | "runsCode" | "connectors">;

const CODE = /^code_execution_\d{8}$/;
const FETCH = /^web_fetch_\d{8}$/;
const TOOLSET = "mcp_toolset";

/** Whether the type of a tool is that of one which Anthropic's servers run, apart from searches. */
export function isAnthropicHosted(type: string): boolean {
  return CODE.test(type) || FETCH.test(type) || type === TOOLSET;
}

/** Reads the tools that Anthropic's servers run, in any of their versions. Throws LlmRefusal. */
export function readAnthropicTools(
  fields: RequestObject,
  tools: readonly RequestObject[],
  note: NoteFeature,
): HostedTools {
  const ofType = (type: RegExp) => tools.find((tool) => type.test(tool.optionalText("type") ?? ""));
  const [code, fetch] = [ofType(CODE), ofType(FETCH)];
  if (code !== undefined) {
    note("codeExecution", code.at("type"));
    refuseField(code, "allowed_callers", [["direct"]]);
  }
  const toolsets = tools.filter((tool) => tool.any("type") === TOOLSET);
  const servers = fields.objects("mcp_servers");
  if (servers.length > 0) note("connectors", "mcp_servers");
  for (const toolset of toolsets) {
    const name = toolset.text("mcp_server_name");
    if (!servers.some((server) => server.any("name") === name))
      throw unsupportedField(toolset.at("type"), `a toolset of the unknown MCP server "${name}"`);
  }
  return {
    ...(fetch && { webFetch: readFetch(fetch, note) }),
    ...(code && { runsCode: true }),
    connectors: servers.flatMap((server) => readConnector(server, toolsets)),
  };
}

function readFetch(tool: RequestObject, note: NoteFeature): WebFetch {
  note("webFetch", tool.at("type"));
  refuseField(tool, "allowed_callers", [["direct"]]);
  refuseField(tool, "citations", [{ enabled: false }]);
  for (const name of ["max_content_tokens", "url_sources", "response_inclusion", "use_cache"])
    refuseField(tool, name);
  const texts = (name: string) => (tool.any(name) === undefined ? undefined : tool.texts(name));
  return {
    maxUses: tool.number("max_uses"),
    allowedDomains: texts("allowed_domains"),
    blockedDomains: texts("blocked_domains"),
  };
}

/** Reads an MCP server; none if its tools are disabled. */
function readConnector(
  server: RequestObject,
  toolsets: readonly RequestObject[],
): readonly McpConnector[] {
  server.choice("type", ["url"]);
  const name = server.text("name");
  const toolset = toolsets.find((each) => each.any("mcp_server_name") === name);
  const older = server.object("tool_configuration");
  if (older?.boolean("enabled") === false) return [];
  const listed =
    older?.any("allowed_tools") === undefined ? undefined : older.texts("allowed_tools");
  const allowedTools = toolset === undefined ? listed : enabledTools(toolset);
  if (allowedTools?.length === 0) return [];
  const token = server.optionalText("authorization_token");
  return [{ name, url: server.text("url"), token, allowedTools }];
}

/** Returns the names of the only tools of a set that may be called; `undefined` for all. */
function enabledTools(toolset: RequestObject): readonly string[] | undefined {
  refuseField(toolset, "tools");
  const isEnabled = toolset.object("default_config")?.boolean("enabled") ?? true;
  const configs = toolset.object("configs") ?? new RequestObject({});
  const other = configs.keys.filter(
    (name) => (configs.object(name)?.boolean("enabled") ?? isEnabled) !== isEnabled,
  );
  if (!isEnabled) return other;
  // Other APIs can list the tools that may be called, not those that may not.
  const [disabled] = other;
  if (disabled !== undefined) throw unsupportedField(configs.at(disabled));
  return undefined;
}

/** Writes the tools that Anthropic's servers run, apart from searches. */
export function anthropicTools({
  runsCode,
  webFetch,
  connectors = [],
}: ChatRequest): readonly JsonObject[] {
  return [
    ...(runsCode === true ? [{ type: "code_execution_20250825", name: "code_execution" }] : []),
    ...(webFetch === undefined ? [] : [fetchTool(webFetch)]),
    ...connectors.map(toolset),
  ];
}

function fetchTool({ maxUses, allowedDomains, blockedDomains }: WebFetch): JsonObject {
  return {
    type: "web_fetch_20250910",
    name: "web_fetch",
    max_uses: maxUses,
    allowed_domains: allowedDomains,
    blocked_domains: blockedDomains,
  };
}

function toolset({ name, allowedTools }: McpConnector): JsonObject {
  const enabled = allowedTools?.map((tool) => [tool, { enabled: true }] as const);
  return {
    type: TOOLSET,
    mcp_server_name: name,
    ...(enabled && {
      default_config: { enabled: false },
      configs: Object.fromEntries(enabled),
    }),
  };
}

/** Writes the MCP servers that Anthropic's servers call; `undefined` if there are none. */
export function connectorsOf({ connectors = [] }: ChatRequest): readonly JsonObject[] | undefined {
  if (connectors.length === 0) return undefined;
  return connectors.map(({ name, url, token }) => {
    return { type: "url", name, url, authorization_token: token };
  });
}

/** Returns the header without which Anthropic refuses `mcp_servers`, as a flat list. */
export function betasOf({ connectors = [] }: ChatRequest): readonly string[] {
  return connectors.length === 0 ? [] : ["anthropic-beta", "mcp-client-2025-11-20"];
}
