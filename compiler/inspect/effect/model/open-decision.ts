import type { CelPhase } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import { canonicalRead, type DataPath, sourceOfPath } from "../data/data-path.ts";
import type { RequestData } from "../data/request-data.ts";
import type { NodeId } from "../diagram/diagrams.ts";
import { type RuleDecision, runRules } from "../rules/run-rules.ts";
import { inWords, type Wording } from "../words/in-words.ts";
import { Work, withinSteps } from "../work/work.ts";
import { RuleModel } from "./rule-model.ts";
import type { Variable } from "./variable.ts";

/** Decision of rules on a partly known request. */
export type OpenDecision =
  | ({ readonly kind: "decided" } & RuleDecision)
  /** It depends: the rules allow under these conditions. */
  | { readonly kind: "depends"; readonly allows: Wording }
  /** It depends on expressions that cannot be solved. */
  | { readonly kind: "undecided"; readonly expressions: readonly string[] };

/** A partly known request: everything except the open paths. */
export interface KnownRequest {
  readonly data: RequestData;
  /** Open paths; everything below them, such as `["source"]`, is open too. */
  readonly open: readonly DataPath[];
  /** Open identities that are not null. */
  readonly present: readonly string[];
}

/** The class of an identity that is not null. */
const PRESENT = 1;

/** Evaluates rules on a partly known request. */
export function openDecision(
  rules: readonly Rule[],
  phase: CelPhase,
  request: KnownRequest,
  work = new Work(),
): OpenDecision {
  const reads = rules.flatMap(({ expression }) => expression.reads.map(canonicalRead));
  if (!reads.some((path) => isOpen(path, request)))
    return { kind: "decided", ...runRules(rules, request.data) };
  return (
    withinSteps(() => solved(rules, phase, request, work)) ?? {
      kind: "undecided",
      expressions: rules.map(({ text }) => text),
    }
  );
}

/** Solves rules; `undefined` if some values have no class. */
function solved(
  rules: readonly Rule[],
  phase: CelPhase,
  request: KnownRequest,
  work: Work,
): OpenDecision | undefined {
  const { data, present } = request;
  const model = new RuleModel(phase, rules, [], [], work);
  if (!model.isComplete) return undefined;
  const classes = new Map<number, readonly number[] | undefined>();
  const classesAt = (level: number): readonly number[] | undefined => {
    const variable = model.variables[level];
    if (variable === undefined) return undefined;
    const [root = "", ...below] = variable.kind === "value" ? variable.path : [];
    if (below.length === 0 && present.includes(root)) return [PRESENT];
    if (pathsOf(variable).some((path) => isOpen(path, request))) return undefined;
    return [model.classOf(level, data)];
  };
  const known = (level: number): readonly number[] | undefined => {
    if (!classes.has(level)) classes.set(level, classesAt(level));
    return classes.get(level);
  };
  const within = (node: NodeId): NodeId => model.diagrams.restrict(node, known);
  const rest = within(model.decision(rules));
  const texts = [...model.diagrams.textsIn(rest)];
  const [text = "-"] = texts;
  if (texts.length === 1) return decided(text);
  const signs = new Set(texts.map((each) => each.charAt(0)));
  if (signs.size === 1) return decided(texts.toSorted().at(-1) ?? text);
  return { kind: "depends", allows: inWords(model, rest, isAllowing, within) };
}

function isOpen(path: DataPath, { open }: KnownRequest): boolean {
  return isOpenPath(path, open);
}

/** Whether a path overlaps an open path. */
export function isOpenPath(path: DataPath, open: readonly DataPath[]): boolean {
  return open.some((each) => overlaps(each, path));
}

function isAllowing(text: string): boolean {
  return text.startsWith("+");
}

/** Parses a terminal of a decision. */
function decided(text: string): OpenDecision {
  const [sign, rule] = text.split(" ");
  const index = rule === undefined ? undefined : Number(rule);
  return { kind: "decided", isAllowed: sign === "+", rule: index };
}

/** Returns the parts of a request that a variable is read from. */
export function pathsOf(variable: Variable): readonly DataPath[] {
  return (variable.kind === "opaque" ? variable.reads : [variable.path]).map(sourceOfPath);
}

/** Whether one path contains the other. */
function overlaps(a: DataPath, b: DataPath): boolean {
  return a.slice(0, b.length).every((step, index) => step === b[index]);
}
