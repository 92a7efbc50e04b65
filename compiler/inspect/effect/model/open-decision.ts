import type { CelPhase } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import type { RuleCondition } from "../conditions/condition.ts";
import { canonicalRead, type DataPath, sourceOfPath } from "../data/data-path.ts";
import type { RequestData } from "../data/request-data.ts";
import { DiagramTooLarge, type NodeId } from "../diagram/diagrams.ts";
import { type RuleDecision, runRules } from "../rules/run-rules.ts";
import { inWords, type Wording } from "../words/in-words.ts";
import { RuleModel } from "./rule-model.ts";
import type { Variable } from "./variable.ts";

/** What rules decide of a request of which not everything is known. */
export type OpenDecision =
  | ({ readonly kind: "decided" } & RuleDecision)
  /** It depends: they allow under these conditions. */
  | { readonly kind: "depends"; readonly allows: Wording }
  /** It depends on what can't be worked out. */
  | { readonly kind: "undecided"; readonly expressions: readonly string[] };

/** What is known of a request: everything but the paths that are open. */
export interface KnownRequest {
  readonly data: RequestData;
  /** `["source"]`: what is below is open, too. */
  readonly open: readonly DataPath[];
  /** Of those the identities that are not null. */
  readonly present: readonly string[];
}

/** The class of an identity that is not null. */
const PRESENT = 1;

/** What rules decide of a request, whatever stays open. */
export function openDecision(
  rules: readonly Rule[],
  phase: CelPhase,
  { data, open, present }: KnownRequest,
  conditions: readonly RuleCondition[] = [],
): OpenDecision {
  const reads = rules.flatMap(({ expression }) => expression.reads.map(canonicalRead));
  const isOpen = (path: DataPath): boolean => open.some((each) => overlaps(each, path));
  if (!reads.some(isOpen)) return { kind: "decided", ...runRules(rules, data) };
  const model = modelOf(phase, rules, conditions);
  if (model?.isComplete !== true)
    return { kind: "undecided", expressions: rules.map(({ text }) => text) };
  const known = (level: number): readonly number[] | undefined => {
    const variable = model.variables[level];
    if (variable === undefined) return undefined;
    const [root = "", ...below] = variable.kind === "value" ? variable.path : [];
    if (below.length === 0 && present.includes(root)) return [PRESENT];
    if (pathsOf(variable).some(isOpen)) return undefined;
    return [model.classOf(level, data)];
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

function isAllowing(text: string): boolean {
  return text.startsWith("+");
}

/** What a terminal of a decision says. */
function decided(text: string): OpenDecision {
  const [sign, rule] = text.split(" ");
  const index = rule === undefined ? undefined : Number(rule);
  return { kind: "decided", isAllowed: sign === "+", rule: index };
}

/** The model of rules; undefined where they are too much for one. */
export function modelOf(
  phase: CelPhase,
  rules: readonly Rule[],
  conditions: readonly RuleCondition[] = [],
): RuleModel | undefined {
  try {
    const model = new RuleModel(phase, rules, conditions);
    model.decision(rules);
    return model;
  } catch (error) {
    if (error instanceof DiagramTooLarge) return undefined;
    throw error;
  }
}

/** What a variable is read from. */
export function pathsOf(variable: Variable): readonly DataPath[] {
  return (variable.kind === "opaque" ? variable.reads : [variable.path]).map(sourceOfPath);
}

/** Whether one path lies in the other. */
function overlaps(a: DataPath, b: DataPath): boolean {
  return a.slice(0, b.length).every((step, index) => step === b[index]);
}
