import type { Node } from "../../../cel/parse/ast.ts";

/** Path of a value in the data of a request: `["jwt", "org", "team"]`, `["request", "headers", "x-env"]`. */
export type DataPath = readonly string[];

/** First step of paths into a JSON body, as in expressions. */
export const JSON_BODY = "json(request.body)";

/** Kind of values that a path can have. */
export type PathKind =
  /** Null or a map. */
  | "root"
  /** Any JSON value, or absent. */
  | "json"
  /** A string, always present. */
  | "string"
  /** A string, or absent. */
  | "optional-string"
  /** An IP address. */
  | "address"
  /** An integer, always present. */
  | "int"
  /** The kind of the MCP item. */
  | "item";

/** Returns a unique string for a path. */
export function pathKey(path: DataPath): string {
  return path.join("\u0001");
}

/** Resolves aliases in a path: `auth.claims` is `jwt`, `mcp.method` is `mcp.methodName`. */
export function canonicalRead(path: DataPath): DataPath {
  if (path[0] === "mcp" && path[1] === "method") return ["mcp", "methodName"];
  return path[0] === "auth" ? ["jwt", ...path.slice(2)] : path;
}

/** Returns the part of the request that a path is read from; for paths into a JSON body, the body. */
export function sourceOfPath(path: DataPath): DataPath {
  return path[0] === JSON_BODY ? ["request", "body"] : path;
}

/** Returns the path of an expression that is just a path. */
export function pathOf(node: Node): DataPath | undefined {
  if (node.kind === "name") return node.name === "auth" ? undefined : [node.name];
  if (isJsonBody(node)) return [JSON_BODY];
  const step = stepOf(node);
  if (step === undefined) return undefined;
  if (step.operand.kind === "name" && step.operand.name === "auth")
    return step.field === "claims" ? ["jwt"] : undefined;
  const owner = pathOf(step.operand);
  return (
    owner && canonicalRead([...owner, isHeaders(owner) ? step.field.toLowerCase() : step.field])
  );
}

/** Returns the path of an expression that is just a path, `has(...)`, or `"x-env" in request.headers`. */
export function pathAskedFor(node: Node): DataPath | undefined {
  if (node.kind === "presence") {
    const owner = pathOf(node.operand);
    return (
      owner && canonicalRead([...owner, isHeaders(owner) ? node.field.toLowerCase() : node.field])
    );
  }
  if (node.kind !== "call" || node.name !== "in") return pathOf(node);
  const [key, owner] = node.args.map((each) => (each.kind === "literal" ? each : pathOf(each)));
  if (key === undefined || !("literal" in key) || key.literal.kind !== "string") return undefined;
  if (owner === undefined || "literal" in owner || !isHeaders(owner)) return undefined;
  return [...owner, key.literal.value.toLowerCase()];
}

function isJsonBody(node: Node): boolean {
  if (node.kind !== "call" || node.name !== "json" || node.isMethod) return false;
  const [text] = node.args;
  const path = text && pathOf(text);
  return path !== undefined && path.join(".") === "request.body";
}

function stepOf(node: Node): { readonly operand: Node; readonly field: string } | undefined {
  if (node.kind === "select" && !node.isOptional)
    return { operand: node.operand, field: node.field };
  if (node.kind !== "index" || node.isOptional || node.index.kind !== "literal") return undefined;
  const { literal } = node.index;
  return literal.kind === "string" ? { operand: node.operand, field: literal.value } : undefined;
}

function isHeaders(path: DataPath): boolean {
  return path.length === 2 && path[0] === "request" && path[1] === "headers";
}

/** Whether a path is that of the arguments of a tool call, or below it. */
export function isInArguments([root, kind, field]: DataPath): boolean {
  return root === "mcp" && kind === "tool" && field === "arguments";
}

/** Variables that are a JSON object or null. */
const ROOTS: ReadonlySet<string> = new Set([
  "jwt",
  "apiKey",
  "extauthz",
  "extproc",
  "metadata",
  "custom",
]);

const STRINGS: ReadonlySet<string> = new Set([
  "request.method",
  "request.path",
  "request.host",
  "request.scheme",
  "request.version",
  "env.podName",
  "env.namespace",
  "env.gateway",
]);

/** Returns the kind of values of a path; `undefined` if they are not classified. */
export function kindOfPath(path: DataPath): PathKind | undefined {
  const [root = ""] = path;
  const text = path.join(".");
  // Example objects cannot have a field of this name.
  if (path.includes("__proto__")) return undefined;
  if (root === JSON_BODY) return "json";
  if (ROOTS.has(root)) return path.length === 1 ? "root" : "json";
  if (text === "basicAuth") return "root";
  if (STRINGS.has(text) || text === "basicAuth.username") return "string";
  if (text === "source.address") return "address";
  if (text === "source.port") return "int";
  if (text === "mcp.methodName") return "optional-string";
  if (root === "mcp" && path.length === 2) return "item";
  if (isInArguments(path)) return path.length === 3 ? "root" : "json";
  if (root === "mcp" && path.length === 3) return "string";
  // The Host header is derived from `request.host`, which may come from elsewhere (`:authority`).
  const isHeader = path.length === 3 && isHeaders(path.slice(0, 2)) && path[2] !== "host";
  return isHeader ? "optional-string" : undefined;
}
