import { nodesOf } from "../../templates/code/syntax.ts";
import { messages } from "../diagnostics/messages/index.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { CheckedExpression } from "./check/check.ts";
import { checkExpression } from "./check/check.ts";
import { needsOf } from "./check/needs.ts";
import { Emitter } from "./emit/emit.ts";
import { type EmittedValue, literalIn } from "./emit/emitted-value.ts";
import { nameLocals } from "./emit/local-names.ts";
import { foldConstants } from "./evaluate/fold.ts";
import { functionOf } from "./evaluate/run-code.ts";
import type { Node } from "./parse/ast.ts";
import { parseExpression } from "./parse/parse.ts";
import { type CelProblem, Problems } from "./parse/problems.ts";
import { formatType } from "./types/types.ts";
import type { Environment } from "./variables/environment.ts";
import { type CelPhase, phaseEnvironment } from "./variables/variables.ts";

/**
 * What an expression is for. `allow`, `require` and `filter` are JavaScript booleans, true exactly when the expression is
 * true. `deny` is true when the rule denies: it is true, or no bool, or fails. `value` is the value, or undefined.
 */
export type CelSlot = "allow" | "deny" | "require" | "filter" | "value";

export type { CelPhase, CelProblem };

/** What `compileExpression` gives: no expression when a problem is an error. */
export interface CompileResult {
  readonly expression: CompiledExpression | undefined;
  readonly problems: readonly CelProblem[];
}

/** What an expression is compiled for. */
export interface CompileOptions {
  readonly phase: CelPhase;
  readonly slot: CelSlot;
  /** Fields that the code before the expression has found to be there: `mcp.tool`. */
  readonly present?: readonly string[];
}

/** Compiles an expression for a phase of the gateway. */
export function compileExpression(text: string, options: CompileOptions): CompileResult {
  return compileIn(text, phaseEnvironment(options.phase, options.present), options.slot);
}

/**
 * Compiles an expression over the variables of an environment. `unchecked` compiles in spite of the checker's mistakes:
 * the mistaken parts are errors of the evaluation.
 */
export function compileIn(
  text: string,
  environment: Environment,
  slot: CelSlot,
  mode: "checked" | "unchecked" = "checked",
): CompileResult {
  const problems = new Problems();
  const root = parseExpression(text, problems);
  if (root === undefined) return { expression: undefined, problems: problems.list };
  const checked = checkExpression(root, environment, problems);
  if (slot !== "value" && problems.list.length === 0) requireBool(checked, problems);
  if (mode === "checked" && problems.list.some(isError))
    return { expression: undefined, problems: problems.list };
  const constants = foldConstants(checked, (node) => valueOfClosed(checked, node), problems);
  if (mode === "checked" && problems.list.some(isError)) {
    return { expression: undefined, problems: problems.list };
  }
  const emitter = new Emitter(checked, constants);
  const emitted = emitSlot(emitter, checked, slot);
  reportConstantRule(emitted, checked, slot, problems);
  const expression = describe(text, checked, emitter, emitted);
  return {
    expression: problems.list.some(isError) && mode === "checked" ? undefined : expression,
    problems: problems.list,
  };
}

function isError(problem: CelProblem): boolean {
  return messages[problem.code].severity === "error";
}

function requireBool(checked: CheckedExpression, problems: Problems): void {
  const type = formatType(checked.typeOf(checked.root));
  if (type !== "bool" && type !== "dyn") {
    problems.report("cel-not-bool", checked.root.span, { type });
  }
}

/** Evaluates a node that reads nothing, by running what it becomes. */
function valueOfClosed(checked: CheckedExpression, node: Node): unknown {
  const emitter = new Emitter(checked);
  const { expression } = emitter.boxed(node);
  return functionOf(nameLocals(expression, []), [])({});
}

/** A rule that does not depend on the request was hardly meant; written as `true` or `false` it was. */
function reportConstantRule(
  emitted: EmittedValue,
  checked: CheckedExpression,
  slot: CelSlot,
  problems: Problems,
): void {
  const result = literalIn(emitted);
  if (slot === "value" || typeof result !== "boolean") return;
  const { span, kind } = checked.root;
  if (slot === "deny" && !result) {
    problems.report("cel-never-denies", span, {});
  } else if (kind !== "literal") {
    problems.report("cel-always", span, { result: String(result) });
  }
}

function describe(
  source: string,
  checked: CheckedExpression,
  { variables, reads }: Emitter,
  { expression }: EmittedValue,
): CompiledExpression {
  const code = nameLocals(expression, variables);
  const names = [...nodesOf(code)].flatMap((node) => (node.kind === "name" ? [node.text] : []));
  return {
    source: source.replace(/\s+/g, " ").trim(),
    type: formatType(checked.typeOf(checked.root)),
    variables: [...variables].filter((variable) => names.includes(variable)).sort(),
    needs: [...needsOf(checked.root)].sort(),
    reads: [...reads.keys()].sort().flatMap((key) => [reads.get(key) ?? []]),
    code,
  };
}

function emitSlot(emitter: Emitter, checked: CheckedExpression, slot: CelSlot): EmittedValue {
  if (slot === "value") return emitter.boxed(checked.root);
  // a deny rule fails closed: it passes only what is known to be false
  if (slot === "deny") return emitter.isNotFalse(checked.root);
  return emitter.isTrue(checked.root);
}
