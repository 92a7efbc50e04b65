import type { Node } from "../parse/ast.ts";
import type { Code } from "./code.ts";
import { arrowBody, joined, ternary } from "./code-parts.ts";
import type { Emitter } from "./emit.ts";

type Logical = Extract<Node, { kind: "logical" }>;
type Conditional = Extract<Node, { kind: "conditional" }>;

/**
 * `&&` and `||` as a test: of `a && b` being true, `a` and `b` are; of it being false, either is. The opposite of a
 * conjunction is the disjunction of the opposites.
 */
export function logicalTest(
  emitter: Emitter,
  node: Logical,
  wanted: boolean,
  isOpposite: boolean,
): Code {
  const isConjunction = ((node.operator === "&&") === wanted) !== isOpposite;
  const codes = chained(emitter, node, isConjunction, (operand) =>
    emitter.test(operand, wanted, isOpposite),
  );
  return joined(isConjunction ? "&&" : "||", codes);
}

/** `&&` and `||` as a value: JavaScript's own where no operand can fail. */
export function logicalValue(emitter: Emitter, node: Logical): Code {
  const isConjunction = node.operator === "&&";
  const operands = chained(emitter, node, isConjunction, (operand) => emitter.value(operand));
  if (operands.every(isSure)) return joined(node.operator, operands);
  return emitter.call(isConjunction ? "values/logic#and" : "values/logic#or", operands, {
    ts: "boolean",
  });
}

/** `test ? a : b` as a test. */
export function conditionalTest(emitter: Emitter, node: Conditional, wanted: boolean): Code {
  const emit = (branch: Node) => emitter.test(branch, wanted);
  const { test, consequent, alternate } = branches(emitter, node, emit);
  if (isSure(test)) return ternary(test, consequent, alternate, "boolean");
  return emitter.isExactly(chosen(emitter, test, consequent, alternate), "true");
}

/** `test ? a : b` as a value. */
export function conditionalValue(emitter: Emitter, node: Conditional): Code {
  const emitted = branches(emitter, node, (branch) => emitter.value(branch));
  const { test } = emitted;
  let { consequent, alternate } = emitted;
  const isMixed = consequent.isRawDouble !== alternate.isRawDouble;
  if (isMixed || !isSure(test)) {
    consequent = emitter.box(consequent);
    alternate = emitter.box(alternate);
  }
  if (!isSure(test)) return chosen(emitter, test, consequent, alternate);
  return ternary(
    test,
    consequent,
    alternate,
    consequent.ts === alternate.ts ? consequent.ts : "unknown",
  );
}

/** Whether a code is a boolean and never an error. */
function isSure(code: Code): boolean {
  return code.ts === "boolean" && !code.mayFail;
}

function chained(
  emitter: Emitter,
  node: Logical,
  isConjunction: boolean,
  emit: (operand: Node) => Code,
): readonly Code[] {
  return emitter.narrowing.within(() =>
    node.operands.map((operand) => {
      const code = emit(operand);
      emitter.narrowing.note(code, isConjunction ? "===" : "!==");
      return code;
    }),
  );
}

function branches(emitter: Emitter, node: Conditional, emit: (branch: Node) => Code) {
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

function chosen(emitter: Emitter, test: Code, consequent: Code, alternate: Code): Code {
  if (consequent.isSimple && alternate.isSimple) {
    return emitter.call("values/logic#pick", [test, consequent, alternate]);
  }
  const later = (code: Code) => ({ text: `() => ${arrowBody(code)}` });
  return emitter.call("values/logic#choose", [test, later(consequent), later(alternate)]);
}
