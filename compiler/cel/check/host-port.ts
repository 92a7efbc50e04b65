import { childrenOf, type Node, type Span } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** A host that a rule compares with `request.host`, without the port that a client may add. */
export interface PortlessHost {
  readonly host: string;
  readonly span: Span;
}

/**
 * Returns the comparisons that a client bypasses by adding a port (`Host: a.example:80`): equalities in deny rules,
 * inequalities in other rules. If a rule requires equality to allow a request, a port only makes it fail.
 */
export function portlessHosts(
  checked: CheckedExpression,
  isDenial: boolean,
): readonly PortlessHost[] {
  const isHost = (node: Node | undefined) =>
    node !== undefined && checked.declarationOf(node)?.path === "request.host";
  const hosts: PortlessHost[] = [];
  const add = (nodes: readonly Node[]) => {
    for (const node of nodes) {
      const isText = node.kind === "literal" && node.literal.kind === "string";
      if (isText && !PORT.test(node.literal.value))
        hosts.push({ host: node.literal.value, span: node.span });
    }
  };
  const search = (node: Node): void => {
    if (node.kind === "call") {
      const [first, second] = node.args;
      if (node.name === (isDenial ? "==" : "!=") && (isHost(first) || isHost(second))) {
        add(node.args);
      } else if (isDenial && node.name === "in" && isHost(first) && second?.kind === "list") {
        add(second.elements);
      }
    }
    for (const child of childrenOf(node)) search(child);
  };
  search(checked.root);
  return hosts;
}

const PORT = /:\d+$/;
