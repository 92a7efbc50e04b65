import { messages } from "../diagnostics/messages/index.ts";
import type { CompiledExpression, ExpressionCode, HoistedConstant } from "../ir/expressions.ts";
import type { CheckedExpression } from "./check/check.ts";
import { checkExpression } from "./check/check.ts";
import { needsOf } from "./check/needs.ts";
import { type Code, format } from "./emit/code.ts";
import { Emitter } from "./emit/emit.ts";
import { finishNames, usesName } from "./emit/names.ts";
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
  const code = emitSlot(emitter, checked, slot);
  reportConstantRule(code, checked, slot, problems);
  const expression = describe(text, checked, emitter, code);
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
  const code = emitter.boxed(node);
  return functionOf(finish(emitter, code), [])({});
}

/** A rule that does not depend on the request was hardly meant; written as `true` or `false` it was. */
function reportConstantRule(
  code: Code,
  checked: CheckedExpression,
  slot: CelSlot,
  problems: Problems,
): void {
  if (slot === "value" || (code.text !== "true" && code.text !== "false")) return;
  const { span, kind } = checked.root;
  if (slot === "deny" && code.text === "false") {
    problems.report("cel-never-denies", span, {});
  } else if (kind !== "literal") {
    problems.report("cel-always", span, { result: code.text });
  }
}

function describe(
  source: string,
  checked: CheckedExpression,
  emitter: Emitter,
  code: Code,
): CompiledExpression {
  const finished = finish(emitter, code);
  return {
    source: source.replace(/\s+/g, " ").trim(),
    type: formatType(checked.typeOf(checked.root)),
    variables: [...emitter.variables].filter((name) => usesName(finished.text, name)).sort(),
    needs: [...needsOf(checked.root)].sort(),
    reads: [...emitter.reads.keys()].sort().flatMap((key) => [emitter.reads.get(key) ?? []]),
    code: finished,
  };
}

function emitSlot(emitter: Emitter, checked: CheckedExpression, slot: CelSlot): Code {
  if (slot === "value") return emitter.boxed(checked.root);
  // a deny rule fails closed: it passes only what is known to be false
  if (slot === "deny") return emitter.isNotFalse(checked.root);
  return emitter.isTrue(checked.root);
}

/** Lays the code out and drops what simplification left unused: emitted modules have no unused names. */
function finish(emitter: Emitter, code: Code): ExpressionCode {
  const { imports, constants } = emitter.context;
  const taken = [
    ...emitter.variables,
    ...imports.map(({ name }) => name),
    ...constants.flatMap((constant) => constant.imports.map(({ name }) => name)),
  ];
  const constantNames = constants.map(({ name }) => name);
  const text = format(finishNames(code.text, taken, constantNames));
  const needed = neededConstants(text, constants);
  return {
    text,
    imports: imports.filter(({ name }) => usesName(text, name)),
    constants: needed.map((constant) => ({
      ...constant,
      text: format(finishNames(constant.text, taken, constantNames)),
      imports: [
        ...constant.imports,
        ...imports.filter(
          (each) =>
            usesName(constant.text, each.name) &&
            !constant.imports.some(({ name }) => name === each.name),
        ),
      ],
    })),
  };
}

/** The constants that the text refers to, by itself or through others; each comes after those it refers to. */
function neededConstants(
  text: string,
  constants: readonly HoistedConstant[],
): readonly HoistedConstant[] {
  const needed: HoistedConstant[] = [];
  for (const constant of constants.toReversed()) {
    const users = [text, ...needed.map((later) => later.text)];
    if (users.some((user) => usesName(user, constant.name))) needed.unshift(constant);
  }
  return needed;
}
