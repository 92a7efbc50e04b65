import { arrow, value } from "../../../templates/code/syntax.ts";
import type { Node } from "../parse/ast.ts";
import { canonicalText } from "../parse/canonical-text.ts";
import { constantString } from "./emit-literal.ts";
import { CHAIN_LENGTH, isAmong } from "./emit-operator.ts";
import { chosenBy, type EmittedValue, joined, simple } from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

type Logical = Extract<Node, { kind: "logical" }>;
type Conditional = Extract<Node, { kind: "conditional" }>;

/**
 * Emits `&&` and `||` as a test. `a && b` is true if both are; it is false if either is. The opposite of a conjunction
 * is the disjunction of the opposites.
 */
export function logicalTest(
  emitter: Emitter,
  node: Logical,
  wanted: boolean,
  isOpposite: boolean,
): EmittedValue {
  const isConjunction = ((node.operator === "&&") === wanted) !== isOpposite;
  const isPlain = node.operator === "||" && wanted && !isOpposite;
  const operands = isPlain ? withMemberships(emitter, node.operands) : node.operands;
  const codes = chained(emitter, operands, isConjunction, (operand) =>
    operand.kind === "membership"
      ? isAmong(emitter, operand.names, emitter.value(operand.item), true)
      : emitter.test(operand, wanted, isOpposite),
  );
  return joined(isConjunction ? "&&" : "||", codes);
}

/** Emits `&&` and `||` as a value: with the operators of JavaScript if no operand can fail. */
export function logicalValue(emitter: Emitter, node: Logical): EmittedValue {
  const isConjunction = node.operator === "&&";
  const operands = chained(emitter, node.operands, isConjunction, (operand) =>
    emitter.value(operand),
  );
  if (operands.every(isSure)) return joined(node.operator, operands);
  return emitter.call(isConjunction ? "values/logic#and" : "values/logic#or", operands, {
    ts: "boolean",
  });
}

/** Emits `test ? a : b` as a test. */
export function conditionalTest(
  emitter: Emitter,
  node: Conditional,
  wanted: boolean,
): EmittedValue {
  const emit = (branch: Node) => emitter.test(branch, wanted);
  const { test, consequent, alternate } = branches(emitter, node, emit);
  if (isSure(test)) return chosenBy(test, consequent, alternate, "boolean");
  return emitter.isExactly(
    chosen(emitter, test, consequent, alternate),
    simple(value(true), "boolean"),
  );
}

/** Emits `test ? a : b` as a value. */
export function conditionalValue(emitter: Emitter, node: Conditional): EmittedValue {
  const emitted = branches(emitter, node, (branch) => emitter.value(branch));
  const { test } = emitted;
  let { consequent, alternate } = emitted;
  const isMixed = consequent.isRawDouble !== alternate.isRawDouble;
  if (isMixed || !isSure(test)) {
    consequent = emitter.box(consequent);
    alternate = emitter.box(alternate);
  }
  if (!isSure(test)) return chosen(emitter, test, consequent, alternate);
  return chosenBy(
    test,
    consequent,
    alternate,
    consequent.ts === alternate.ts ? consequent.ts : "unknown",
  );
}

/** Whether a value is a boolean and never an error. */
function isSure(code: EmittedValue): boolean {
  return code.ts === "boolean" && !code.mayFail;
}

/** Consecutive operands `item == "a" || item == "b"`, as `item in ["a", "b"]`. */
interface Membership {
  readonly kind: "membership";
  readonly item: Node;
  readonly names: readonly string[];
}

/** Replaces runs of comparisons that are longer than the chain that `in` may become. */
function withMemberships(
  emitter: Emitter,
  operands: readonly Node[],
): readonly (Node | Membership)[] {
  if (operands.length <= CHAIN_LENGTH) return operands;
  const comparisons = operands.map((node) => comparisonIn(emitter, node));
  const all: (Node | Membership)[] = [];
  for (let start = 0; start < operands.length; ) {
    const first = comparisons[start];
    let end = start + 1;
    while (first !== undefined && comparisons[end]?.text === first.text) end++;
    if (first === undefined || end - start <= CHAIN_LENGTH) all.push(...operands.slice(start, end));
    else {
      const names = comparisons.slice(start, end).flatMap((each) => each?.name ?? []);
      all.push({ kind: "membership", item: first.item, names });
    }
    start = end;
  }
  return all;
}

/** Reads `item == "a"`; equal items have equal texts. `undefined` for other operands. */
function comparisonIn(
  emitter: Emitter,
  node: Node,
): { readonly item: Node; readonly text: string; readonly name: string } | undefined {
  if (node.kind !== "call" || node.name !== "==") return undefined;
  const [item, constant] = node.args;
  if (item === undefined || constant === undefined) return undefined;
  const name = constantString(emitter, constant);
  return name === undefined ? undefined : { item, text: canonicalText(item), name };
}

function chained<Operand>(
  emitter: Emitter,
  operands: readonly Operand[],
  isConjunction: boolean,
  emit: (operand: Operand) => EmittedValue,
): readonly EmittedValue[] {
  return emitter.narrowing.within(() =>
    operands.map((operand) => {
      const code = emit(operand);
      emitter.narrowing.note(code, isConjunction ? "===" : "!==");
      return code;
    }),
  );
}

function branches(emitter: Emitter, node: Conditional, emit: (branch: Node) => EmittedValue) {
  const test = emitter.value(node.test);
  const branch = (part: Node, operator: "===" | "!==") =>
    emitter.narrowing.within(() => {
      emitter.narrowing.note(test, operator);
      return emit(part);
    });
  return {
    test,
    consequent: branch(node.consequent, "==="),
    alternate: branch(node.alternate, "!=="),
  };
}

function chosen(
  emitter: Emitter,
  test: EmittedValue,
  consequent: EmittedValue,
  alternate: EmittedValue,
): EmittedValue {
  if (consequent.isSimple && alternate.isSimple) {
    return emitter.call("values/logic#pick", [test, consequent, alternate]);
  }
  const branch = ({ expression }: EmittedValue) => ({ expression: arrow([], expression) });
  return emitter.call("values/logic#choose", [test, branch(consequent), branch(alternate)]);
}
