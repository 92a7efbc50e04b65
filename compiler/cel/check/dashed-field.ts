import type { Node, Span } from "../parse/ast.ts";

/** A field name with `-` after a dot: CEL parses `request.headers.x-user` as a subtraction. */
export interface DashedField {
  /** Complete name: `x-user`. */
  readonly name: string;
  readonly span: Span;
  /** Node that the field should belong to. */
  readonly owner: Node;
}

/** Returns the dashed field that a subtraction means: it has no spaces, and a part of it is not a variable. */
export function dashedField(
  node: Node,
  isVariable: (name: string) => boolean,
): DashedField | undefined {
  const parts: string[] = [];
  let end = node.span[1];
  let left = node;
  while (left.kind === "call" && left.name === "-" && !left.isMethod && left.args.length === 2) {
    const [before, after] = left.args;
    const word = after && firstName(after);
    if (before === undefined || word === undefined) return undefined;
    const [start, next] = left.nameSpan;
    if (before.span[1] !== start || word.span[0] !== next) return undefined;
    if (parts.length === 0) end = word.span[1];
    parts.unshift(word.name);
    left = before;
  }
  if (left.kind !== "select" || parts.every(isVariable)) return undefined;
  const { field, fieldSpan, operand: owner } = left;
  return { name: [field, ...parts].join("-"), span: [fieldSpan[0], end], owner };
}

/** Returns the name that a node begins with: `user` in `user.startsWith("a")`. */
function firstName(node: Node): Extract<Node, { kind: "name" }> | undefined {
  switch (node.kind) {
    case "name":
      return node;
    case "select":
    case "index":
      return firstName(node.operand);
    case "call":
      return node.isMethod && node.args[0] !== undefined ? firstName(node.args[0]) : undefined;
    default:
      return undefined;
  }
}
