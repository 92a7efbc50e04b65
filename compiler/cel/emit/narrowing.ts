import type { Expression, ValueExpression } from "../../../templates/code/hole.ts";
import { nodesOf } from "../../../templates/code/syntax.ts";
import type { EmittedValue } from "./emitted-value.ts";

/** A compared reference, and the constant that it is known to equal. */
interface Finding {
  readonly reference: Expression;
  readonly constant: ValueExpression["value"];
}

/**
 * Types that TypeScript has narrowed by previous comparisons in a chain of `&&` or `||` or in a branch. Comparing a
 * narrowed reference with another constant would be a type error, although it is only never true.
 */
export class Narrowing {
  #findings: readonly Finding[] = [];

  /** Whether a reference was compared before. */
  has({ expression }: EmittedValue): boolean {
    return this.#findings.some(({ reference }) => isSame(reference, expression));
  }

  /** Returns the constant that a reference is known to equal here. */
  constantOf({ expression }: EmittedValue): ValueExpression["value"] {
    return this.#findings.findLast(({ reference }) => isSame(reference, expression))?.constant;
  }

  /** Runs a part whose comparisons only narrow within it. */
  within<Result>(part: () => Result): Result {
    const before = this.#findings;
    const result = part();
    this.#findings = before;
    return result;
  }

  /** Records the comparisons of a part that was true (`===`) or false (`!==`) for the parts after it. */
  note({ expression }: EmittedValue, operator: "===" | "!=="): void {
    for (const node of nodesOf(expression)) {
      const [reference, constant] = comparisonIn(node);
      if (reference === undefined || constant === undefined) continue;
      // A bool that is not true is known to be false.
      const isBool = constant.kind === "value" && typeof constant.value === "boolean";
      const isKnown = this.#findings.some((finding) => isSame(finding.reference, reference));
      if ((isEqual(node) === (operator === "===") || isBool) && !isKnown) {
        this.#findings = [...this.#findings, { reference, constant: undefined }];
      }
    }
    const [reference, constant] = isEqual(expression) ? comparisonIn(expression) : [];
    if (operator !== "===" || reference === undefined || constant?.kind !== "value") return;
    if (typeof constant.value === "string" || typeof constant.value === "number") {
      this.#findings = [...this.#findings, { reference, constant: constant.value }];
    }
  }
}

/** Whether an expression is a name, or a property of one. */
export function isReference(expression: Expression): boolean {
  if (expression.kind === "member") return isReference(expression.object);
  return expression.kind === "name" || expression.kind === "local";
}

function isEqual(node: Expression): boolean {
  return node.kind === "binary" && node.operator === "===";
}

/** Returns the operands of a comparison with a reference. */
function comparisonIn(node: Expression): readonly Expression[] {
  if (node.kind !== "binary" || (node.operator !== "===" && node.operator !== "!==")) return [];
  const [left] = node.operands;
  return left !== undefined && isReference(left) ? node.operands : [];
}

function isSame(left: Expression, right: Expression): boolean {
  if (left.kind === "name" && right.kind === "name") return left.text === right.text;
  if (left.kind !== "member" || right.kind !== "member") return left === right;
  const isSameStep = left.property === right.property && left.isOptional === right.isOptional;
  return isSameStep && isSame(left.object, right.object);
}
