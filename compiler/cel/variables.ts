import { type Code, LEVEL, type TsType } from "./code.ts";
import type { Declaration, Environment } from "./environment.ts";
import { BOOL, BYTES, DYN, INT, listOf, mapOf, STRING, TIMESTAMP, type Type } from "./types.ts";

/**
 * The moment at which an expression is evaluated. `request`: the policies of a route before its backend is called;
 * `mcp`: rules over tools, prompts and resources; `llm`: while an LLM request is prepared; `response`: policies on the
 * response; `log`: access log, tracing and metrics, when all is over.
 */
export type CelPhase = "request" | "mcp" | "llm" | "response" | "log";

const PHASES: Readonly<Record<CelPhase, string>> = {
  request: "a rule of a request",
  mcp: "an MCP rule",
  llm: "an LLM request transformation",
  response: "a rule of a response",
  log: "the log",
};

/** Every phase, in the order of a request. */
export const celPhases: readonly CelPhase[] = ["request", "mcp", "llm", "response", "log"];

/** What a phase is called in messages. */
export function describePhase(phase: CelPhase): string {
  return PHASES[phase];
}

interface Row {
  readonly path: string;
  readonly type: Type;
  readonly phases: readonly CelPhase[];
  readonly doc: string;
  /** TypeScript; none for an object that is no value by itself. */
  readonly code?: string;
  readonly ts?: TsType;
  readonly mayFail?: boolean;
  readonly isJsonRoot?: boolean;
  readonly isJson?: boolean;
  readonly range?: readonly [number, number];
  readonly helpers?: readonly string[];
  /** The variable it reads, when it is not the first word of `code`. */
  readonly variables?: readonly string[];
}

const ALL = celPhases;
const LATE: readonly CelPhase[] = ["response", "log"];
const MCP: readonly CelPhase[] = ["mcp", "log"];
const LLM: readonly CelPhase[] = ["llm", "response", "log"];
const STRINGS = mapOf(STRING, STRING);
/** Token counts: no model takes or gives a billion. */
const TOKENS: readonly [number, number] = [0, 1_000_000_000];

const object = (name: string): Type => ({ kind: "object", name });

function text(path: string, code: string, phases: readonly CelPhase[], doc: string): Row {
  return { path, type: STRING, phases, doc, code, ts: "string", mayFail: code.includes("?.") };
}

function count(name: string, doc: string): Row {
  const code = `llm?.${name}`;
  const path = `llm.${name}`;
  return { path, type: INT, phases: LATE, doc, code, ts: "number", mayFail: true, range: TOKENS };
}

function json(path: string, variable: string, phases: readonly CelPhase[], doc: string): Row {
  return { path, type: DYN, phases, doc, code: variable, isJsonRoot: true, isJson: true };
}

function mcpItem(item: "tool" | "prompt" | "resource", name: string): readonly Row[] {
  const path = `mcp.${item}`;
  const doc = `The ${item} that is listed or ${item === "resource" ? "read" : "used"}; absent otherwise.`;
  return [
    { path, type: object(path), phases: MCP, doc, code: `mcp?.${item}`, mayFail: true },
    text(`${path}.name`, `mcp?.${item}?.name`, MCP, name),
    text(`${path}.target`, `mcp?.${item}?.target`, MCP, "The name of the target that offers it."),
  ];
}

const REQUEST: readonly Row[] = [
  { path: "request", type: object("request"), phases: ALL, doc: "The request of the client." },
  text("request.method", "request.method", ALL, "The method, as sent: `GET`."),
  text("request.scheme", "request.scheme", ALL, "`http` or `https`."),
  text(
    "request.host",
    "request.host",
    ALL,
    "The authority, lower case, with its port if it has one.",
  ),
  text("request.path", "request.path", ALL, "The path without the query."),
  text("request.pathAndQuery", "request.pathAndQuery", ALL, "The path with the query."),
  text("request.uri", "request.uri", ALL, "Scheme, authority, path and query."),
  text("request.version", "request.version", ALL, "`HTTP/1.1` or `HTTP/2`."),
  {
    path: "request.headers",
    type: STRINGS,
    phases: ALL,
    doc: "The headers by lower-case name; several values are joined by `, `.",
    code: "request.headerMap()",
  },
  {
    path: "request.body",
    type: BYTES,
    phases: ALL,
    doc: "The body. The gateway holds the request until all of it is there, up to the buffer limit.",
    code: "request.bufferedBody",
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "request.startTime",
    type: TIMESTAMP,
    phases: ALL,
    doc: "When the head of the request had arrived.",
    code: "fromMillis(request.startTime)",
    helpers: ["time#fromMillis"],
    variables: ["request"],
  },
  {
    path: "request.endTime",
    type: TIMESTAMP,
    phases: ["log"],
    doc: "When the response had been sent.",
    code: "fromMillis(response?.endTime)",
    helpers: ["time#fromMillis"],
    variables: ["response"],
    mayFail: true,
  },
];

const CERTIFICATE = "request.clientCertificate";

const SOURCE: readonly Row[] = [
  { path: "source", type: object("source"), phases: ALL, doc: "The client's connection." },
  text("source.address", "request.remoteAddress", ALL, "The client's IP address."),
  {
    path: "source.port",
    type: INT,
    phases: ALL,
    doc: "The client's port.",
    code: "request.remotePort",
    ts: "number",
    range: [0, 65_535],
  },
  text("source.subject", `${CERTIFICATE}?.subject`, ALL, "Subject of the client certificate."),
  text("source.issuer", `${CERTIFICATE}?.issuer`, ALL, "Issuer of the client certificate."),
  text("source.subjectCn", `${CERTIFICATE}?.subjectCn`, ALL, "Common name of its subject."),
  {
    path: "source.subjectAltNames",
    type: listOf(STRING),
    phases: ALL,
    doc: "Alternative names of the client certificate.",
    code: `${CERTIFICATE}?.subjectAltNames`,
    mayFail: true,
  },
  {
    path: "source.identity",
    type: object("source.identity"),
    phases: ALL,
    doc: "The workload that a SPIFFE client certificate names.",
    code: `${CERTIFICATE}?.identity`,
    mayFail: true,
  },
  text(
    "source.identity.trustDomain",
    `${CERTIFICATE}?.identity?.trustDomain`,
    ALL,
    "Trust domain.",
  ),
  text("source.identity.namespace", `${CERTIFICATE}?.identity?.namespace`, ALL, "Namespace."),
  text(
    "source.identity.serviceAccount",
    `${CERTIFICATE}?.identity?.serviceAccount`,
    ALL,
    "Service account.",
  ),
];

const IDENTITIES: readonly Row[] = [
  json("jwt", "jwt", ALL, "The claims of the verified token; null without one."),
  { path: "auth", type: object("auth"), phases: ALL, doc: "Who the caller is." },
  json("auth.claims", "jwt", ALL, "The same claims as `jwt`."),
  json("apiKey", "apiKey", ALL, "The metadata of the matched API key; null without one."),
  {
    path: "basicAuth",
    type: object("basicAuth"),
    phases: ALL,
    doc: "The user of basic authentication; null without one.",
    code: "basicAuth",
  },
  text("basicAuth.username", "basicAuth?.username", ALL, "The user's name."),
  json("extauthz", "extauthz", ALL, "What external authorization set; null without it."),
  json("extproc", "extproc", ALL, "What external processing set; null without it."),
  json("metadata", "metadata", ALL, "What transformations set as metadata; null without any."),
];

const ITEMS: readonly Row[] = [
  {
    path: "mcp",
    type: object("mcp"),
    phases: MCP,
    doc: "The MCP message; in the log null for other requests.",
    code: "mcp",
  },
  text("mcp.methodName", "mcp?.methodName", MCP, "The JSON-RPC method: `tools/call`."),
  ...mcpItem("tool", "The tool's name without the target's prefix."),
  ...mcpItem("prompt", "The prompt's name without the target's prefix."),
  ...mcpItem("resource", "The resource's URI."),
];

const MODELS: readonly Row[] = [
  {
    path: "llm",
    type: object("llm"),
    phases: LLM,
    doc: "The LLM call; null for other requests.",
    code: "llm",
  },
  {
    path: "llm.streaming",
    type: BOOL,
    phases: LLM,
    doc: "Whether the client asked for a stream.",
    code: "llm?.streaming",
    ts: "boolean",
    mayFail: true,
  },
  text("llm.requestModel", "llm?.requestModel", LLM, "The model that the request names."),
  text("llm.responseModel", "llm?.responseModel", LATE, "The model that answered."),
  text("llm.provider", "llm?.provider", LLM, "The provider: `openai`."),
  count("inputTokens", "Tokens of the prompt."),
  count("cachedInputTokens", "Prompt tokens read from the provider's cache."),
  count("cacheCreationInputTokens", "Prompt tokens written to the provider's cache."),
  count("outputTokens", "Tokens of the completion."),
  count("reasoningTokens", "Completion tokens spent on reasoning."),
  count("totalTokens", "Tokens in all."),
  count("countTokens", "The answer of a token count request."),
  {
    path: "llm.prompt",
    type: listOf(mapOf(STRING, STRING)),
    phases: LLM,
    doc: "The messages of the prompt: `role` and `content` each.",
    code: "llm?.prompt",
    mayFail: true,
    isJson: true,
  },
  {
    path: "llm.completion",
    type: listOf(STRING),
    phases: LATE,
    doc: "The texts of the completion.",
    code: "llm?.completion",
    mayFail: true,
    isJson: true,
  },
  {
    path: "llm.params",
    type: DYN,
    phases: LLM,
    doc: "The parameters of the request: `temperature`, `max_tokens`, ...",
    code: "llm?.params",
    mayFail: true,
    isJson: true,
  },
  json("llmRequest", "llmRequest", ["llm"], "The body of the LLM request as JSON."),
];

const ANSWER: readonly Row[] = [
  { path: "response", type: object("response"), phases: LATE, doc: "The response." },
  {
    path: "response.code",
    type: INT,
    phases: LATE,
    doc: "The status code.",
    code: "response.status",
    ts: "number",
    range: [100, 999],
  },
  {
    path: "response.headers",
    type: STRINGS,
    phases: LATE,
    doc: "The headers by lower-case name; several values are joined by `, `.",
    code: "response.headerMap()",
  },
  {
    path: "response.body",
    type: BYTES,
    phases: LATE,
    doc: "The body. The gateway holds the response until all of it is there, up to the buffer limit.",
    code: "response.bufferedBody",
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "backend",
    type: object("backend"),
    phases: LLM,
    doc: "Where the request goes.",
    code: "backend",
  },
  text("backend.name", "backend?.name", LLM, "The name of the backend."),
  text("backend.type", "backend?.type", LLM, "`ai`, `mcp`, `static`, `dynamic` or `service`."),
  text("backend.protocol", "backend?.protocol", LLM, "`http`, `tcp`, `mcp` or `llm`."),
  { path: "env", type: object("env"), phases: ALL, doc: "Where the gateway runs." },
  text("env.podName", "env.podName", ALL, "The pod's name; empty outside Kubernetes."),
  text("env.namespace", "env.namespace", ALL, "Its namespace; empty outside Kubernetes."),
  text("env.gateway", "env.gateway", ALL, "The gateway's name."),
];

const ROWS = [...REQUEST, ...SOURCE, ...IDENTITIES, ...ITEMS, ...MODELS, ...ANSWER];

/** The variables of a phase. */
export function phaseEnvironment(phase: CelPhase): Environment {
  const rows = ROWS.filter((row) => row.phases.includes(phase));
  return {
    description: describePhase(phase),
    declarations: new Map(rows.map((row) => [row.path, declare(row, phase)])),
    elsewhere: (path) => ROWS.find((row) => row.path === path)?.phases.map(describePhase) ?? [],
  };
}

function declare(row: Row, phase: CelPhase): Declaration {
  const variable = /^\w+/.exec(row.code ?? "")?.[0];
  return {
    path: row.path,
    type: row.type,
    code: codeOf(row, phase),
    variables: row.variables ?? (variable === undefined ? [] : [variable]),
    helpers: row.helpers ?? [],
    doc: row.doc,
  };
}

function codeOf(row: Row, phase: CelPhase): Code | undefined {
  if (row.code === undefined) return undefined;
  // in an MCP rule there is always an MCP message
  const isSure = phase === "mcp" && row.path.startsWith("mcp.");
  const code = isSure ? row.code.replace(/^mcp\?/, "mcp") : row.code;
  return {
    text: code,
    level: LEVEL.primary,
    ts: row.ts ?? "unknown",
    mayFail: isSure ? code.includes("?.") || row.type.kind === "object" : (row.mayFail ?? false),
    isSimple: !code.includes("("),
    ...(row.isJson ? { isJson: true } : {}),
    ...(row.isJsonRoot ? { isJsonRoot: true } : {}),
    ...(row.range === undefined ? {} : { range: row.range }),
  };
}
