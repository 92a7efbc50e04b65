import { currentTrial, type OfferedItems, type TrialCall, type TrialResponse } from "./trial.ts";
import { modelResponse } from "./trial-model.ts";

/** What a server responds to a request: an MCP server what it offers, a model a short text, all others what the trial says. */
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

/** What an MCP server says to a JSON-RPC message, as text; undefined: nothing, it is no request. */
export function messageResponse(text: string, server: string): string | undefined {
  const { id, method, params } = readRequest(text);
  if (id === undefined || method === undefined) return undefined;
  const offered = currentTrial().request.servers[server] ?? NOTHING;
  const result = resultOf(method, params ?? {}, offered);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** What is no JSON is a request of none: a real server refuses it, and that is not its gateway's doing. */
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
