import type { JsonObject } from "../../../cel/variables.ts";
import type { NoteFeature } from "../../chat/features.ts";
import type { McpConnector, WebFetch } from "../../chat/hosted-tools.ts";
import type { ChatRequest } from "../../chat/request.ts";
import {
  checkTool,
  onlyTool,
  refused,
  refuseIndirect,
  refuseLimit,
  type ToolTable,
} from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField } from "../../chat/request-object.ts";

/** Tools of a request that the provider runs, apart from searches. */
type HostedTools = Pick<ChatRequest, "webFetch" | "runsCode" | "connectors">;

const CODE = /^code_execution_\d{8}$/;
const FETCH = /^web_fetch_\d{8}$/;
const TOOLSET = "mcp_toolset";

/** Members of all tools that Anthropic's servers run. */
const MEMBERS: ToolTable = {
  type: "read",
  name: "read",
  allowed_callers: "read",
  cache_control: "dropped",
  defer_loading: "dropped",
  strict: "dropped",
};

const WEB_MEMBERS: ToolTable = {
  ...MEMBERS,
  max_uses: "read",
  allowed_domains: "read",
  blocked_domains: "read",
  response_inclusion: { refusedUnless: ["full"] },
};

/** Members of a search of the web. */
export const SEARCH_MEMBERS: ToolTable = { ...WEB_MEMBERS, user_location: "read" };

const FETCH_MEMBERS: ToolTable = {
  ...WEB_MEMBERS,
  citations: { refusedUnless: [{ enabled: false }] },
  max_content_tokens: refused,
  use_cache: { refusedUnless: [true] },
};

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
  const ofType = (type: RegExp) =>
    onlyTool(tools.filter((tool) => type.test(tool.optionalText("type") ?? "")));
  const [code, fetch] = [ofType(CODE), ofType(FETCH)];
  if (code !== undefined) {
    note("codeExecution", code.at("type"));
    checkTool(code, MEMBERS);
    refuseIndirect(code);
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
  checkTool(tool, FETCH_MEMBERS);
  refuseIndirect(tool);
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
  checkTool(server, SERVER_MEMBERS);
  const name = server.text("name");
  const toolset = toolsets.find((each) => each.any("mcp_server_name") === name);
  const older = server.object("tool_configuration");
  if (older?.boolean("enabled") === false) return [];
  const listed =
    older?.any("allowed_tools") === undefined ? undefined : older.texts("allowed_tools");
  const allowedTools = toolset === undefined ? listed : enabledTools(toolset, server);
  if (allowedTools?.length === 0) return [];
  const token = server.optionalText("authorization_token");
  return [{ name, url: server.text("url"), token, allowedTools }];
}

/**
 * Returns the names of the only tools of a set that may be called; `undefined` for all. A member that cannot be translated
 * refuses the server: without the toolset, all of its tools could be called.
 */
function enabledTools(
  toolset: RequestObject,
  server: RequestObject,
): readonly string[] | undefined {
  const refusedTool = server.at("type");
  checkTool(toolset, TOOLSET_MEMBERS, refusedTool);
  const defaults = toolset.object("default_config");
  const configs = toolset.object("configs") ?? new RequestObject({});
  const named = configs.keys.map((name) => [name, configs.object(name)] as const);
  for (const config of [defaults, ...named.map(([, each]) => each)])
    if (config !== undefined) checkTool(config, CONFIG_MEMBERS, refusedTool);
  const isEnabled = defaults?.boolean("enabled") ?? true;
  const other = named.flatMap(([name, config]) =>
    (config?.boolean("enabled") ?? isEnabled) === isEnabled ? [] : [name],
  );
  if (!isEnabled) return other;
  // Other APIs can list the tools that may be called, not those that may not.
  for (const disabled of other) refuseLimit(configs, disabled, refusedTool);
  return undefined;
}

const SERVER_MEMBERS: ToolTable = {
  type: "read",
  name: "read",
  url: "read",
  authorization_token: "read",
  tool_configuration: "read",
};

const TOOLSET_MEMBERS: ToolTable = {
  type: "read",
  mcp_server_name: "read",
  default_config: "read",
  configs: "read",
  cache_control: "dropped",
};

const CONFIG_MEMBERS: ToolTable = { enabled: "read", defer_loading: "dropped" };

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
