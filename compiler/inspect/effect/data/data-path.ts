import type { Node } from "../../../cel/parse/ast.ts";

/** Where a value is in the data of a request: `["jwt", "org", "team"]`, `["request", "headers", "x-env"]`. */
export type DataPath = readonly string[];

/** The first step to what a body of JSON holds: as expressions read it. */
export const JSON_BODY = "json(request.body)";

/** What values a path can have, as far as rules can tell. */
export type PathKind =
  /** Null, or a map with fields. */
  | "root"
  /** Any JSON, or nothing. */
  | "json"
  /** Always a string. */
  | "string"
  /** A string, or nothing. */
  | "optional-string"
  /** An IP address. */
  | "address"
  /** An integer that is always there. */
  | "int"
  /** Which kind of MCP item it is about. */
  | "item";

/** The one text of a path. */
export function pathKey(path: DataPath): string {
  return path.join("\u0001");
}

/** A path as expressions have it: `request.headers["x-env"]`. */
export function pathText(path: DataPath): string {
  const [root = "", ...fields] = path;
  return fields.reduce(
    (text, field) =>
      /^[A-Za-z_]\w*$/.test(field) ? `${text}.${field}` : `${text}[${JSON.stringify(field)}]`,
    root,
  );
}

/** A path that compiled code reads, by its one name: `auth.claims` is `jwt`, `mcp.method` is `mcp.methodName`. */
export function canonicalRead(path: DataPath): DataPath {
  if (path[0] === "mcp" && path[1] === "method") return ["mcp", "methodName"];
  return path[0] === "auth" ? ["jwt", ...path.slice(2)] : path;
}

/** What of a request a path is read from: of what a body holds the body. */
export function sourceOfPath(path: DataPath): DataPath {
  return path[0] === JSON_BODY ? ["request", "body"] : path;
}

/** The path that an expression reads when it is a path and nothing else. */
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

/** The header that `"x-env" in request.headers` asks for, and every path besides. */
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

/** JSON objects, or null. */
const ROOTS: ReadonlySet<string> = new Set(["jwt", "apiKey", "extauthz", "extproc", "metadata"]);

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

/** What a path can hold; undefined for one whose values are not classed apart. */
export function kindOfPath(path: DataPath): PathKind | undefined {
  const [root = ""] = path;
  const text = path.join(".");
  // no object that is put together has it as a field
  if (path.includes("__proto__")) return undefined;
  if (root === JSON_BODY) return "json";
  if (ROOTS.has(root)) return path.length === 1 ? "root" : "json";
  if (text === "basicAuth") return "root";
  if (STRINGS.has(text) || text === "basicAuth.username") return "string";
  if (text === "source.address") return "address";
  if (text === "source.port") return "int";
  if (text === "mcp.methodName") return "optional-string";
  if (root === "mcp" && path.length === 2) return "item";
  if (root === "mcp" && path.length === 3) return "string";
  // the authority of a request may stand there or elsewhere: that header follows from request.host
  const isHeader = path.length === 3 && isHeaders(path.slice(0, 2)) && path[2] !== "host";
  return isHeader ? "optional-string" : undefined;
}
