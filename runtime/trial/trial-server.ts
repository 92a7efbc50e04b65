import { currentTrial, type OfferedItems, type TrialCall, type TrialResponse } from "./trial.ts";
import { modelResponse } from "./trial-model.ts";

/** Returns a server's response: an MCP server's offered items, a model's short text, or else the trial's response. */
export function responseTo(call: TrialCall, mcpServer: string | undefined): TrialResponse {
  const { request, calls } = currentTrial();
  calls.push(call);
  const { response } = request;
  if (mcpServer !== undefined) {
    const body = messageResponse(call.body, mcpServer);
    if (body === undefined) return { status: 202, headers: {}, body: "" };
    return { status: 200, headers: JSON_TYPE, body };
  }
  const body = response.status === 200 ? modelResponse(call.path) : undefined;
  return body === undefined ? response : { status: 200, headers: JSON_TYPE, body };
}

const JSON_TYPE = { "content-type": "application/json" };

/** Returns an MCP server's response to a JSON-RPC message, as JSON; `undefined` if the message is not a request. */
export function messageResponse(text: string, server: string): string | undefined {
  const { id, method, params } = readRequest(text);
  if (id === undefined || method === undefined) return undefined;
  const offered = currentTrial().request.servers[server] ?? NOTHING;
  const result = resultOf(method, params ?? {}, offered);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** Invalid JSON is read as an empty request: a real server would refuse it, which says nothing about the gateway. */
function readRequest(text: string): RpcRequest {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

interface RpcRequest {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

const NOTHING: OfferedItems = { tools: [], prompts: [], resources: [] };

const CAPABILITIES = { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} };

function resultOf(
  method: string,
  { protocolVersion = "2025-11-25" }: NonNullable<RpcRequest["params"]>,
  { tools, prompts, resources }: OfferedItems,
): object {
  const serverInfo = { name: "trial", version: "1" };
  switch (method) {
    case "server/discover":
      return { supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES, serverInfo };
    case "initialize":
      return { protocolVersion, capabilities: CAPABILITIES, serverInfo };
    case "tools/list":
      return { tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) };
    case "prompts/list":
      return { prompts: prompts.map((name) => ({ name })) };
    case "resources/list":
      return { resources: resources.map((uri) => ({ uri, name: uri })) };
    case "resources/templates/list":
      return { resourceTemplates: [] };
    case "tools/call":
      return { content: [{ type: "text", text: "ok" }] };
    case "prompts/get":
      return { messages: [] };
    case "resources/read":
      return { contents: [] };
    default:
      return {};
  }
}
