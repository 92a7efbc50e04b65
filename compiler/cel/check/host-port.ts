import { childrenOf, type Node, type Span } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** A host that a rule compares `request.host` with, which has no port where a client may name one. */
export interface PortlessHost {
  readonly host: string;
  readonly span: Span;
}

/**
 * The comparisons with a host that a client passes by naming a port beside it (`Host: a.example:80`): equalities of rules
 * that deny, inequalities of others. Where a rule says that the two are equal to let a request pass, a port only fails it.
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
