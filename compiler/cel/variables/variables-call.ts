import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  type Type,
} from "../types/types.ts";
import {
  ALL,
  countVariable,
  jsonVariable,
  LLM,
  MCP,
  mcpPrimitive,
  ON_RESPONSE,
  objectType,
  STRINGS,
  textVariable,
  type VariableDefinition,
} from "./variable-definitions.ts";

/** Defines a part of a tool call that is captured for the log. */
function loggedTool(
  part: "arguments" | "result" | "error",
  type: Type,
  doc: string,
): VariableDefinition {
  const member = `?tool${part.charAt(0).toUpperCase()}${part.slice(1)}`;
  return {
    path: `mcp.tool.${part}`,
    type,
    phases: ["log"],
    doc: `${doc} Bodies are copied while they pass, up to the buffer limit.`,
    access: ["request", "?captured", member],
    mayFail: true,
    isJson: true,
  };
}

const ITEMS: readonly VariableDefinition[] = [
  {
    path: "mcp",
    type: objectType("mcp"),
    phases: MCP,
    doc: "The MCP message; in the log null for other requests.",
    access: ["mcp"],
  },
  textVariable("mcp.method", ["mcp", "?methodName"], MCP, "The JSON-RPC method: `tools/call`."),
  textVariable("mcp.methodName", ["mcp", "?methodName"], MCP, "The same as `mcp.method`."),
  ...mcpPrimitive("tool", "The tool's name without the target's prefix."),
  {
    path: "mcp.tool.arguments",
    type: mapOf(STRING, DYN),
    phases: ["mcp"],
    doc: "The arguments of a call. A list has none: it shows a tool if the rules would allow some arguments.",
    access: ["mcp", "?tool", "?arguments"],
    mayFail: true,
    isJson: true,
  },
  loggedTool("arguments", mapOf(STRING, DYN), "The arguments of the call."),
  loggedTool("result", DYN, "The result of the call, as the client received it; absent otherwise."),
  loggedTool("error", DYN, "The JSON-RPC error of the call; absent otherwise."),
  textVariable(
    "mcp.sessionId",
    ["mcp", "?sessionId"],
    ["log"],
    "The session of the request; absent without one.",
  ),
  ...mcpPrimitive("prompt", "The prompt's name without the target's prefix."),
  ...mcpPrimitive(
    "resource",
    "The URI of the resource. A rule must allow every form of it: `FILE:///a/../b` is also `file:///b`.",
  ),
];

/** Defines a part of the costs of an LLM call, or of its prices. */
function costVariable(
  name: string,
  doc: string,
  owner: "cost" | "costRates" = "cost",
): VariableDefinition {
  return {
    path: `llm.${owner}.${name}`,
    type: DOUBLE,
    phases: ON_RESPONSE,
    doc,
    access: ["llm", `?${owner}`, `?${name}`],
    mayFail: true,
  };
}

/** Defines a time of a stream of an LLM call, in seconds at run time. */
function timeVariable(name: string, doc: string): VariableDefinition {
  return {
    path: `llm.${name}`,
    type: DURATION,
    phases: ["log"],
    doc,
    access: ["llm", `?${name}`],
    helper: "time/time#fromSeconds",
    mayFail: true,
  };
}

const MODELS: readonly VariableDefinition[] = [
  {
    path: "llm",
    type: objectType("llm"),
    phases: LLM,
    doc: "The LLM call; null for other requests.",
    access: ["llm"],
  },
  {
    path: "llm.streaming",
    type: BOOL,
    phases: LLM,
    doc: "Whether the client asked for a stream.",
    access: ["llm", "?streaming"],
    ts: "boolean",
    mayFail: true,
  },
  textVariable(
    "llm.requestModel",
    ["llm", "?requestModel"],
    LLM,
    "The model that the request names.",
  ),
  textVariable(
    "llm.responseModel",
    ["llm", "?responseModel"],
    ON_RESPONSE,
    "The model that responded.",
  ),
  textVariable("llm.provider", ["llm", "?provider"], LLM, "The provider: `openai`."),
  countVariable("inputTokens", "Tokens of the prompt."),
  countVariable("cachedInputTokens", "Prompt tokens read from the provider's cache."),
  countVariable("cacheCreationInputTokens", "Prompt tokens written to the provider's cache."),
  countVariable("outputTokens", "Tokens of the completion."),
  countVariable("reasoningTokens", "Completion tokens spent on reasoning."),
  countVariable("inputAudioTokens", "Audio tokens of the prompt, if the provider reports them."),
  countVariable(
    "outputAudioTokens",
    "Audio tokens of the completion, if the provider reports them.",
  ),
  countVariable("totalTokens", "Total tokens."),
  countVariable("countTokens", "The response of a token count request."),
  countVariable("characters", "Characters of a text that was spoken."),
  {
    path: "llm.seconds",
    type: DOUBLE,
    phases: ON_RESPONSE,
    doc: "Seconds of audio that was transcribed, if the provider reports them.",
    access: ["llm", "?seconds"],
    mayFail: true,
  },
  countVariable("images", "Images that were requested."),
  countVariable("documents", "Documents that were ranked."),
  countVariable("searches", "Searches that the provider bills for a ranking."),
  {
    path: "llm.cost",
    type: objectType("llm.cost"),
    phases: ON_RESPONSE,
    doc: "Costs of the call in US dollars; absent without a price in `modelCatalog`.",
    access: ["llm", "?cost"],
    mayFail: true,
  },
  costVariable("total", "Total costs."),
  costVariable("input", "Costs of the prompt, without tokens of the cache and audio."),
  costVariable("output", "Costs of the completion, without reasoning and audio."),
  costVariable("cacheRead", "Costs of tokens read from the cache."),
  costVariable("cacheWrite", "Costs of tokens written to the cache."),
  costVariable("reasoning", "Costs of reasoning."),
  costVariable("inputAudio", "Costs of audio in the prompt, without tokens of the cache."),
  costVariable("outputAudio", "Costs of audio in the completion."),
  costVariable("units", "Costs of characters, seconds, images, documents and searches."),
  {
    path: "llm.costRates",
    type: objectType("llm.costRates"),
    phases: ON_RESPONSE,
    doc: "Prices of a million tokens of the call in US dollars; absent without a price.",
    access: ["llm", "?costRates"],
    mayFail: true,
  },
  costVariable("input", "Price of the prompt.", "costRates"),
  costVariable("output", "Price of the completion.", "costRates"),
  costVariable("cacheRead", "Price of tokens read from the cache.", "costRates"),
  costVariable("cacheWrite", "Price of tokens written to the cache.", "costRates"),
  costVariable("reasoning", "Price of reasoning.", "costRates"),
  costVariable("inputAudio", "Price of audio in the prompt.", "costRates"),
  costVariable("outputAudio", "Price of audio in the completion.", "costRates"),
  timeVariable(
    "timeToFirstToken",
    "Time from the request until the first content of a stream; absent for other responses.",
  ),
  timeVariable(
    "timePerOutputToken",
    "Time of each token of a stream after the first; absent without a count of tokens.",
  ),
  {
    path: "llm.prompt",
    type: listOf(mapOf(STRING, STRING)),
    phases: LLM,
    doc: "The messages of the prompt: `role` and `content` each.",
    access: ["llm", "?prompt"],
    mayFail: true,
    isJson: true,
  },
  {
    path: "llm.completion",
    type: listOf(STRING),
    phases: ["log"],
    doc: "The texts of the completion, one for each choice, as the client received them. The response is copied while it passes, up to the buffer limit.",
    access: ["request", "?captured", "?completion"],
    mayFail: true,
  },
  {
    path: "llm.toolCalls",
    type: listOf(DYN),
    phases: ["log"],
    doc: "The tools that the model called: `id`, `name` and `arguments` each, as the client received them. The response is copied while it passes, up to the buffer limit.",
    access: ["request", "?captured", "?toolCalls"],
    mayFail: true,
    isJson: true,
  },
  textVariable(
    "llm.serviceTier",
    ["request", "?captured", "?serviceTier"],
    ["log"],
    "The service tier that the response names. The response is copied while it passes, up to the buffer limit.",
  ),
  {
    path: "llm.params",
    type: mapOf(STRING, DYN),
    phases: LLM,
    doc: "The parameters of the request: `temperature`, `max_tokens`, ...",
    access: ["llm", "?params"],
    mayFail: true,
    isJson: true,
  },
  jsonVariable("llmRequest", "llmRequest", ["llm"], "The body of the LLM request as JSON."),
];

const RESPONSE: readonly VariableDefinition[] = [
  { path: "response", type: objectType("response"), phases: ON_RESPONSE, doc: "The response." },
  {
    path: "response.code",
    type: INT,
    phases: ON_RESPONSE,
    doc: "The status code.",
    access: ["response", "status"],
    ts: "number",
    range: [100, 999],
  },
  {
    path: "response.grpcStatus",
    type: INT,
    phases: ["log"],
    doc: "The status of a gRPC response, from its trailers or headers; absent for other responses.",
    access: ["response", "?grpcStatus"],
    ts: "number",
    mayFail: true,
    range: [0, 999],
  },
  {
    path: "response.headers",
    type: STRINGS,
    phases: ON_RESPONSE,
    doc: "Headers by lower-case name; several values are joined with `, `.",
    access: ["response"],
    method: "headerMap",
  },
  {
    path: "response.body",
    type: BYTES,
    phases: ["response"],
    doc: "The body. The gateway buffers the response until it is complete, up to the buffer limit.",
    access: ["response", "bufferedBody"],
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "response.body",
    type: BYTES,
    phases: ["log"],
    doc: "The body, copied while it passes; only its beginning if it is longer than the buffer limit.",
    access: ["request", "?captured", "?response"],
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "backend",
    type: objectType("backend"),
    phases: LLM,
    doc: "The backend of the request.",
    access: ["backend"],
  },
  textVariable("backend.name", ["backend", "?name"], LLM, "The name of the backend."),
  textVariable(
    "backend.type",
    ["backend", "?type"],
    LLM,
    "`ai`, `mcp`, `static`, `dynamic` or `service`.",
  ),
  textVariable("backend.protocol", ["backend", "?protocol"], LLM, "`http`, `tcp`, `mcp` or `llm`."),
  { path: "env", type: objectType("env"), phases: ALL, doc: "The environment of the gateway." },
  textVariable(
    "env.podName",
    ["env", "podName"],
    ALL,
    "The name of the pod; empty outside Kubernetes.",
  ),
  textVariable(
    "env.namespace",
    ["env", "namespace"],
    ALL,
    "Its namespace; empty outside Kubernetes.",
  ),
  textVariable("env.gateway", ["env", "gateway"], ALL, "The gateway's name."),
];

/** Variables of calls: MCP items, models, backends, and their responses. */
export const CALL_VARIABLES: readonly VariableDefinition[] = [...ITEMS, ...MODELS, ...RESPONSE];
