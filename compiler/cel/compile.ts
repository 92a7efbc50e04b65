import { nodesOf } from "../../templates/code/syntax.ts";
import { messages } from "../diagnostics/messages/index.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { Rule, RuleCase } from "../model/rules.ts";
import { BoundedResults } from "./bounded-results.ts";
import { failsWithout } from "./check/absent-data.ts";
import { checkExpression } from "./check/check.ts";
import type { CheckedExpression } from "./check/checked-expression.ts";
import { portlessHosts } from "./check/host-port.ts";
import { sentHeaders } from "./check/sent-headers.ts";
import { type WrittenMap, writtenMaps } from "./check/written-maps.ts";
import { emitterOf } from "./emit/emit.ts";
import { type EmittedValue, literalIn } from "./emit/emitted-value.ts";
import type { Emitter } from "./emit/emitter.ts";
import { nameLocals } from "./emit/local-names.ts";
import { foldConstants } from "./evaluate/fold.ts";
import { functionOf } from "./evaluate/run-code.ts";
import { inlineBindings } from "./kinds/inline-bindings.ts";
import { namesKind, type Situation } from "./kinds/kind-reader.ts";
import { withListing } from "./kinds/listed-arguments.ts";
import { casesOf, type NodeCases } from "./kinds/rule-cases.ts";
import type { Node, Span } from "./parse/ast.ts";
import { parseExpression } from "./parse/parse.ts";
import { type CelProblem, Problems } from "./parse/problems.ts";
import { formatType } from "./types/types.ts";
import type { Environment } from "./variables/environment.ts";
import { type CelPhase, itemKinds, phaseEnvironment } from "./variables/variables.ts";

/**
 * Use of an expression. `allow`, `require` and `filter` are JavaScript booleans, true exactly if the expression is
 * true. `deny` is true if the rule denies: if the expression is true, not a bool, or fails. `value` is the value, or
 * undefined.
 */
export type CelSlot = "allow" | "deny" | "require" | "filter" | "value";

export type { CelPhase, CelProblem };

/** Result of `compileExpression`: no expression if a problem is an error. */
export interface CompileResult {
  readonly expression: CompiledExpression | undefined;
  readonly problems: readonly CelProblem[];
}

/** Purpose of a compiled expression. */
export interface CompileOptions {
  readonly phase: CelPhase;
  readonly slot: CelSlot;
}

/** Result of `compileRule`: no expression and no cases if a problem is an error. */
export interface RuleResult extends CompileResult {
  readonly cases: readonly RuleCase[];
}

/** Compiles an expression for a phase of the gateway. */
export function compileExpression(text: string, options: CompileOptions): CompileResult {
  return compileIn(text, phaseEnvironment(options.phase), options.slot);
}

/** Names the optional data of a request without which a valid expression may fail: `the header "x-id"`. */
export function namesFailingWithout(text: string, phase: CelPhase): readonly string[] {
  const checked = checkedIn(text, phase);
  if (checked === undefined) return [];
  return failsWithout(checked).flatMap(({ name, variable }) =>
    variable === "request" ? name : [],
  );
}

/** Returns the map literals that may be the result of a valid expression. */
export function writtenMapsOf(text: string, phase: CelPhase): readonly WrittenMap[] {
  const checked = checkedIn(text, phase);
  if (checked === undefined) return [];
  const evaluate = (node: Node) => valueOfClosed(checked, node);
  const constants = foldConstants(checked, evaluate, new Problems());
  return writtenMaps(checked, (node) => constants.literalOf(node));
}

/** Returns the request headers that the value of a valid expression is built from, in lower case. */
export function headersGiving(text: string, phase: CelPhase): readonly string[] {
  const checked = checkedIn(text, phase);
  return checked === undefined ? [] : sentHeaders(checked);
}

/** Returns a checked expression; `undefined` if it is invalid, which has been reported. */
function checkedIn(text: string, phase: CelPhase): CheckedExpression | undefined {
  const root = parseExpression(text, new Problems());
  return root && checkExpression(root, phaseEnvironment(phase), new Problems());
}

/** Cache of compiled rules: many routes have the same rules, as do both sides of a comparison. */
const compiledRules = new BoundedResults<RuleResult>();

/** Compiles a rule for a phase of the gateway, with its effect on each kind of item. */
export function compileRule(text: string, phase: CelPhase, action: Rule["action"]): RuleResult {
  const key = `${phase} ${action} ${text}`;
  return compiledRules.of(key, () => compiledRule(text, phase, action));
}

function compiledRule(text: string, phase: CelPhase, action: Rule["action"]): RuleResult {
  const { expression: written, problems } = compileExpression(text, { phase, slot: action });
  if (written === undefined) return { expression: written, problems, cases: [] };
  const expression = completed(text, written, phase, action);
  if (expression.code.kind === "value")
    return { expression, problems, cases: [{ ...EVERYWHERE, expression }] };
  const found = ruleCases(text, phase, action);
  if (found.kind === "whole")
    return { expression, problems, cases: [{ ...EVERYWHERE, expression }] };
  if (found.kind !== "cases") {
    const problem = kindProblem(found.kind, [0, text.length]);
    return { expression: undefined, problems: [...problems, problem], cases: [] };
  }
  const cases = found.cases.map(({ situation = EVERYWHERE, node }) => ({
    ...situation,
    expression: compileCase(text, node, situation, phase, action),
  }));
  return { expression, problems, cases };
}

/** Returns the expression of a rule that also decides about lists; problems are those of the rule as written. */
function completed(
  text: string,
  written: CompiledExpression,
  phase: CelPhase,
  slot: Rule["action"],
): CompiledExpression {
  const whole = withListing(text, slot);
  if (whole === text) return written;
  const { expression = written } = compileExpression(whole, { phase, slot });
  return { ...expression, source: written.source };
}

/** Returns the effect of a valid rule on each kind of item; `whole` is a single expression for every item. */
export function ruleCases(
  text: string,
  phase: CelPhase,
  action: Rule["action"],
): NodeCases | { readonly kind: "whole"; readonly node: Node } {
  const root = parseExpression(withListing(text, action), new Problems());
  if (root === undefined) throw new Error("a compiled rule is not a valid expression");
  const kinds = itemKinds(phase);
  if (!namesKind(root, kinds)) return { kind: "whole", node: root };
  const whole = inlineBindings(root, (value) => namesKind(value, kinds));
  return casesOf(checkExpression(whole, phaseEnvironment(phase), new Problems()), action, kinds);
}

const EVERYWHERE: Situation = { present: [], absent: [] };

function kindProblem(kind: Exclude<NodeCases["kind"], "cases">, within: Span): CelProblem {
  const params = {};
  if (kind === "never") return { code: "cel-no-item", params, within };
  if (kind === "always") return { code: "cel-never-objects", params, within };
  return { code: "cel-too-many-cases", params, within };
}

/**
 * Compiles the effect of a rule on some items. TypeScript does not narrow types inside functions, so an expression with
 * functions is compiled without known fields.
 */
function compileCase(
  text: string,
  root: Node,
  { present }: Situation,
  phase: CelPhase,
  slot: CelSlot,
): CompiledExpression {
  const compiled = (known: readonly string[]): CompiledExpression => {
    const problems = new Problems();
    const checked = checkExpression(root, phaseEnvironment(phase, known), problems);
    const constants = foldConstants(checked, (node) => valueOfClosed(checked, node), problems);
    const emitter = emitterOf(checked, constants);
    return describe(text, checked, emitter, emitSlot(emitter, checked, slot));
  };
  const narrow = compiled(present);
  const hasFunction = [...nodesOf(narrow.code)].some(({ kind }) => kind === "arrow");
  return hasFunction ? compiled([]) : narrow;
}

/**
 * Compiles an expression over the variables of an environment. `unchecked` compiles in spite of type errors: invalid
 * parts become evaluation errors.
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
    return { expression: undefined, problems: withWholeWord(text, problems.list) };
  const constants = foldConstants(checked, (node) => valueOfClosed(checked, node), problems);
  if (mode === "checked" && problems.list.some(isError)) {
    return { expression: undefined, problems: problems.list };
  }
  const emitter = emitterOf(checked, constants);
  const emitted = emitSlot(emitter, checked, slot);
  reportConstantRule(emitted, checked, slot, problems);
  if (slot === "deny" && problems.list.length === 0) reportAbsentData(checked, problems);
  if (slot !== "value") reportPortlessHosts(checked, slot === "deny", problems);
  const expression = describe(text, checked, emitter, emitted);
  return {
    expression: problems.list.some(isError) && mode === "checked" ? undefined : expression,
    problems: problems.list,
  };
}

/** Reports a word with dashes, such as `my-team`, as a string without quotes instead of a difference of variables. */
function withWholeWord(text: string, problems: readonly CelProblem[]): readonly CelProblem[] {
  const [, name = ""] = /^\s*([A-Za-z]\w*(?:-\w+)+)\s*$/.exec(text) ?? [];
  const [first] = problems;
  const areUnknown = problems.length === name.split("-").length;
  if (name === "" || !areUnknown || first?.code !== "cel-unknown-variable") return problems;
  const params = { ...first.params, name, suggestion: undefined, isWhole: true };
  return [{ ...first, params, within: [0, text.length] }];
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

/** Evaluates a node without inputs by running its code. */
function valueOfClosed(checked: CheckedExpression, node: Node): unknown {
  const emitter = emitterOf(checked);
  const { expression } = emitter.boxed(node);
  return functionOf(nameLocals(expression, []), [])({});
}

/** Reports a rule that does not depend on the request, unless it is written as `true` or `false`. */
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

/** Reports optional data in a deny rule, which denies if it fails and thus denies everyone who does not send it. */
function reportAbsentData(checked: CheckedExpression, problems: Problems): void {
  for (const { name, test, variable, span } of failsWithout(checked)) {
    const negated = test.startsWith("has(") ? `!${test}` : `!(${test})`;
    problems.report("cel-denies-absent", span, { name, test, negated, variable });
  }
}

/** Reports comparisons with a host that ignore a port in Host. */
function reportPortlessHosts(
  checked: CheckedExpression,
  isDenial: boolean,
  problems: Problems,
): void {
  for (const { host, span } of portlessHosts(checked, isDenial)) {
    const pattern = `^${host.replace(/[.[\]]/g, "[$&]")}(:[0-9]+)?$`;
    problems.report("cel-host-without-port", span, { host, pattern: JSON.stringify(pattern) });
  }
}

function describe(
  source: string,
  checked: CheckedExpression,
  { reads: { variables, paths, parameters } }: Emitter,
  { expression }: EmittedValue,
): CompiledExpression {
  const code = nameLocals(expression, variables);
  const names = [...nodesOf(code)].flatMap((node) => (node.kind === "name" ? [node.text] : []));
  return {
    source: source.replace(/\s+/g, " ").trim(),
    type: formatType(checked.typeOf(checked.root)),
    variables: [...variables].filter((variable) => names.includes(variable)).sort(),
    reads: paths,
    ...(parameters && { parameters }),
    code,
  };
}

function emitSlot(emitter: Emitter, checked: CheckedExpression, slot: CelSlot): EmittedValue {
  if (slot === "value") return emitter.boxed(checked.root);
  // A deny rule fails closed: it only passes if the result is known to be false.
  if (slot === "deny") return emitter.isNotFalse(checked.root);
  return emitter.isTrue(checked.root);
}
