import type { LiteralValue, Node, Span } from "../parse/ast.ts";
import { formatType } from "../types/types.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** A map literal that may be the result of an expression. */
export interface WrittenMap {
  readonly span: Span;
  readonly entries: readonly WrittenEntry[];
}

/** An entry of a map literal. */
export interface WrittenEntry {
  /** `undefined` if it depends on the request. */
  readonly key: LiteralValue | undefined;
  readonly keySpan: Span;
  /** `undefined` if it depends on the request. */
  readonly value: LiteralValue | undefined;
  /** Type of the value: `int`. */
  readonly type: string;
  readonly valueSpan: Span;
}

/** Returns the map literals that may be the result of an expression, in any branch. */
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
