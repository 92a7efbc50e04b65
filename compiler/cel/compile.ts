import type { CompiledExpression, ExpressionCode } from "../ir.ts";
import { messages } from "../messages.ts";
import type { Checked } from "./check.ts";
import { check } from "./check.ts";
import { type Code, layOut } from "./code.ts";
import { Emitter } from "./emit.ts";
import type { Environment } from "./environment.ts";
import { finishNames } from "./names.ts";
import { parseExpression } from "./parse.ts";
import { type CelProblem, Problems } from "./problems.ts";
import { formatType } from "./types.ts";
import { type CelPhase, phaseEnvironment } from "./variables.ts";

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

/** Compiles an expression for a phase of the gateway. */
export function compileExpression(
  text: string,
  options: { readonly phase: CelPhase; readonly slot: CelSlot },
): CompileResult {
  return compileIn(text, phaseEnvironment(options.phase), options.slot);
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
  const checked = check(root, environment, problems);
  if (slot !== "value" && problems.list.length === 0) requireBool(checked, problems);
  if (mode === "checked" && problems.list.some(isError))
    return { expression: undefined, problems: problems.list };
  const expression = emit(text, checked, slot);
  return { expression, problems: problems.list };
}

function isError(problem: CelProblem): boolean {
  return messages[problem.code].severity === "error";
}

function requireBool(checked: Checked, problems: Problems): void {
  const type = formatType(checked.typeOf(checked.root));
  if (type !== "bool" && type !== "dyn") {
    problems.report("cel-not-bool", checked.root.span, { type });
  }
}

function emit(source: string, checked: Checked, slot: CelSlot): CompiledExpression {
  const emitter = new Emitter(checked, () => undefined);
  const code = emitSlot(emitter, checked, slot);
  return {
    source: source.replace(/\s+/g, " ").trim(),
    type: formatType(checked.typeOf(checked.root)),
    variables: [...emitter.variables].sort(),
    reads: [...emitter.reads.keys()].sort().flatMap((key) => [emitter.reads.get(key) ?? []]),
    code: finish(emitter, code),
  };
}

function emitSlot(emitter: Emitter, checked: Checked, slot: CelSlot): Code {
  if (slot === "value") return emitter.boxed(checked.root);
  // a deny rule fails closed: it passes only what is known to be false
  if (slot === "deny") return emitter.isNotFalse(checked.root);
  return emitter.isTrue(checked.root);
}

function finish(emitter: Emitter, code: Code): ExpressionCode {
  const { imports, constants } = emitter.surroundings;
  const text = finishNames(code.text, [
    ...emitter.variables,
    ...imports.map(({ name }) => name),
    ...constants.map(({ name }) => name),
  ]);
  return {
    text: layOut(text),
    imports,
    constants: constants.map((constant) => ({ ...constant, text: layOut(constant.text) })),
  };
}
