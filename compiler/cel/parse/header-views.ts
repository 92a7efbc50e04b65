import type { CallNode, Node, Span } from "./ast.ts";

/**
 * Returns the equivalent of a method of all headers: `request.headers.join()` is `request.headers`, whose lines are joined
 * anyway, and `request.headers.cookie("a")` reads the header `cookie`. `undefined` for other calls.
 */
export function headerViewOf(call: CallNode): Node | undefined {
  const [headers, ...args] = call.args;
  if (!call.isMethod || headers === undefined || !isHeaders(headers)) return undefined;
  if (call.name === "join" && args.length === 0) return { ...headers, span: call.span };
  if (call.name !== "cookie" || args.length !== 1) return undefined;
  return { ...call, args: [cookieOf(headers), ...args] };
}

/** Whether a node is `request.headers` or `response.headers`. */
function isHeaders(node: Node): boolean {
  if (node.kind !== "select" || node.field !== "headers" || node.isOptional) return false;
  const { operand } = node;
  return operand.kind === "name" && (operand.name === "request" || operand.name === "response");
}

function cookieOf(headers: Node): Node {
  const { span } = headers;
  const end: Span = [span[1], span[1]];
  return {
    kind: "select",
    span,
    operand: headers,
    field: "cookie",
    fieldSpan: end,
    isOptional: false,
  };
}

/** Returns the field by its name here: `request.bodyPrefix` is a body, of which the log has the beginning. */
export function messageField(operand: Node, field: string): string {
  const isMessage =
    operand.kind === "name" && (operand.name === "request" || operand.name === "response");
  return isMessage && field === "bodyPrefix" ? "body" : field;
}
