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

/** What rules decide, worked out; undefined: some values have no class. */
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

/** Whether a path is, or lies in, one of those that are open, or they lie in it. */
export function isOpenPath(path: DataPath, open: readonly DataPath[]): boolean {
  return open.some((each) => overlaps(each, path));
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

/** What a variable is read from. */
export function pathsOf(variable: Variable): readonly DataPath[] {
  return (variable.kind === "opaque" ? variable.reads : [variable.path]).map(sourceOfPath);
}

/** Whether one path lies in the other. */
function overlaps(a: DataPath, b: DataPath): boolean {
  return a.slice(0, b.length).every((step, index) => step === b[index]);
}
