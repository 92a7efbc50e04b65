import type { LiteralValue, Node, Span } from "../parse/ast.ts";
import { formatType } from "../types/types.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** A map that is written out in an expression, which may come to it. */
export interface WrittenMap {
  readonly span: Span;
  readonly entries: readonly WrittenEntry[];
}

/** An entry of one. */
export interface WrittenEntry {
  /** Undefined: it is known when there is a request. */
  readonly key: LiteralValue | undefined;
  readonly keySpan: Span;
  /** Undefined: it is known when there is a request. */
  readonly value: LiteralValue | undefined;
  /** Of the value: `int`. */
  readonly type: string;
  readonly valueSpan: Span;
}

/** The maps that an expression comes to as they are written there, in one branch or another. */
export function writtenMaps(
  checked: CheckedExpression,
  literalOf: (node: Node) => LiteralValue | undefined,
): readonly WrittenMap[] {
  const known = (node: Node) => (node.kind === "literal" ? node.literal : literalOf(node));
  const mapsOf = (node: Node): readonly WrittenMap[] => {
    if (node.kind === "conditional") return [node.consequent, node.alternate].flatMap(mapsOf);
    if (node.kind !== "map") return [];
    const entries = node.entries.map(({ key, value }) => ({
      key: known(key),
      keySpan: key.span,
      value: known(value),
      type: formatType(checked.typeOf(value)),
      valueSpan: value.span,
    }));
    return [{ span: node.span, entries }];
  };
  return mapsOf(checked.root);
}
