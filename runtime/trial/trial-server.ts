import { currentTrial, type OfferedItems, type TrialCall, type TrialResponse } from "./trial.ts";

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

/** Returns a model's response in the format of a path; `undefined` if it is not a path of a model API. */
function modelResponse(path: string): string | undefined {
  const [, found] = RESPONSES.find(([pattern]) => pattern.test(path)) ?? [];
  return found === undefined ? undefined : JSON.stringify(found);
}

const COMPLETION = {
  id: "trial",
  object: "chat.completion",
  created: 0,
  model: "trial",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const MESSAGE = {
  id: "trial",
  type: "message",
  role: "assistant",
  model: "trial",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const RESPONSE = {
  id: "trial",
  object: "response",
  created_at: 0,
  status: "completed",
  model: "trial",
  output: [
    {
      id: "trial",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "ok", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};

const GENERATED = {
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};

const CONVERSED = {
  output: { message: { role: "assistant", content: [{ text: "ok" }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  metrics: { latencyMs: 1 },
};

const EMBEDDINGS = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [0] }],
  model: "trial",
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

/** By the end of the path, in each provider's API. */
const RESPONSES: readonly (readonly [RegExp, object])[] = [
  [/\/chat\/completions(\?|$)/, COMPLETION],
  [/(\/messages|:rawPredict)(\?|$)/, MESSAGE],
  [/\/messages\/count_tokens(\?|$)/, { input_tokens: 1 }],
  [/\/responses(\?|$)/, RESPONSE],
  [/:generateContent(\?|$)/, GENERATED],
  [/:countTokens(\?|$)/, { totalTokens: 1 }],
  [/\/converse(\?|$)/, CONVERSED],
  [/\/embeddings(\?|$)/, EMBEDDINGS],
];
