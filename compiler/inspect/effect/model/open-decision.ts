import { isJsonObject } from "../../../../runtime/json/json-object.ts";
import type { CelPhase } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import { canonicalRead, type DataPath, pathKey, sourceOfPath } from "../data/data-path.ts";
import type { RequestData } from "../data/request-data.ts";
import type { NodeId } from "../diagram/diagrams.ts";
import { type RuleDecision, runRules } from "../rules/run-rules.ts";
import { searchWitness } from "../witness/search-witness.ts";
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
  /** Paths below open ones whose values are known. */
  readonly fixed?: readonly DataPath[];
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
  if (!readsOf(rules).some((path) => isOpen(path, request)))
    return { kind: "decided", ...runRules(rules, request.data) };
  return (
    withinSteps(() => solved(rules, phase, request, work)) ?? {
      kind: "undecided",
      expressions: rules.map(({ text }) => text),
    }
  );
}

/** Distinct paths that rules read: the same rules are asked about thousands of requests. */
const knownReads = new WeakMap<readonly Rule[], readonly DataPath[]>();

function readsOf(rules: readonly Rule[]): readonly DataPath[] {
  const known = knownReads.get(rules);
  if (known !== undefined) return known;
  const all = rules.flatMap(({ expression }) => expression.reads.map(canonicalRead));
  const reads = [...new Map(all.map((path) => [pathKey(path), path])).values()];
  knownReads.set(rules, reads);
  return reads;
}

/**
 * Returns a request that rules allow or refuse, with values for the open parts, executed on the compiled rules; `undefined`
 * if none was found.
 */
export function openExample(
  rules: readonly Rule[],
  phase: CelPhase,
  request: KnownRequest,
  isAllowed: boolean,
  work = new Work(),
): RequestData | undefined {
  const holds = (data: RequestData) => runRules(rules, data).isAllowed === isAllowed;
  return withinSteps(() => {
    const { model, rest } = restOf(rules, phase, request, work);
    const paths = model.diagrams.paths(rest, (text) => isAllowing(text) === isAllowed);
    for (const { at } of paths.take(MAX_PATHS)) {
      const found = searchWitness(model, at, (data) => holds(withOpen(request, data)));
      if (found !== undefined) return withOpen(request, found);
    }
    return undefined;
  });
}

/** Maximum number of paths of a diagram on which an example is searched. */
const MAX_PATHS = 8;

/** Adds values of the open parts of a request to those that are known. */
function withOpen(
  { data, open, fixed = [] }: Omit<KnownRequest, "present">,
  found: RequestData,
  above: DataPath = [],
): RequestData {
  const all: Record<string, unknown> = { ...found };
  for (const [field, value] of Object.entries(data)) {
    const other = all[field];
    const path = [...above, field];
    if (isJsonObject(value) && isJsonObject(other))
      all[field] = withOpen({ data: value, open, fixed }, other, path);
    else if (other === undefined || !isBelow(path, open) || isBelow(path, fixed))
      all[field] = value;
  }
  return all;
}

function isBelow(path: DataPath, others: readonly DataPath[]): boolean {
  return others.some((each) => each.every((step, at) => path[at] === step));
}

/** Solves rules; `undefined` if some values have no class. */
function solved(
  rules: readonly Rule[],
  phase: CelPhase,
  request: KnownRequest,
  work: Work,
): OpenDecision | undefined {
  const { model, rest, within } = restOf(rules, phase, request, work);
  if (!model.isComplete) return undefined;
  const texts = [...model.diagrams.textsIn(rest)];
  const [text = "-"] = texts;
  if (texts.length === 1) return decided(text);
  const signs = new Set(texts.map((each) => each.charAt(0)));
  if (signs.size === 1) return decided(texts.toSorted().at(-1) ?? text);
  return { kind: "depends", allows: inWords(model, rest, isAllowing, within) };
}

/** The decision of rules for the open parts of a request. */
interface OpenRest {
  readonly model: RuleModel;
  readonly rest: NodeId;
  /** Restricts other diagrams in the same way. */
  readonly within: (node: NodeId) => NodeId;
}

function restOf(
  rules: readonly Rule[],
  phase: CelPhase,
  request: KnownRequest,
  work: Work,
): OpenRest {
  const { data, present, fixed = [] } = request;
  const model = new RuleModel(phase, rules, [], [], work);
  const classes = new Map<number, readonly number[] | undefined>();
  const classesAt = (level: number): readonly number[] | undefined => {
    const variable = model.variables[level];
    if (variable === undefined) return undefined;
    const [root = "", ...below] = variable.kind === "value" ? variable.path : [];
    if (below.length === 0 && present.includes(root)) return [PRESENT];
    // The arguments of a call are an object if one of them is known.
    if (variable.kind === "value" && fixed.some((each) => isAbove(variable.path, each)))
      return [PRESENT];
    if (pathsOf(variable).some((path) => isOpen(path, request))) return undefined;
    return [model.classOf(level, data)];
  };
  const known = (level: number): readonly number[] | undefined => {
    if (!classes.has(level)) classes.set(level, classesAt(level));
    return classes.get(level);
  };
  const within = (node: NodeId): NodeId => model.diagrams.restrict(node, known);
  return { model, rest: within(model.decision(rules)), within };
}

function isOpen(path: DataPath, { open, fixed = [] }: KnownRequest): boolean {
  return isOpenPath(path, open) && !isBelow(path, fixed);
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

/** Whether a path is that of a value that contains the value at the other. */
function isAbove(path: DataPath, other: DataPath): boolean {
  return path.length < other.length && isBelow(other, [path]);
}

/** Whether one path contains the other. */
function overlaps(a: DataPath, b: DataPath): boolean {
  return a.slice(0, b.length).every((step, index) => step === b[index]);
}
