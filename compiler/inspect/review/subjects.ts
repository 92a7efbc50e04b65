import { withoutParentheses } from "../../cel/parse/canonical-text.ts";
import type { Rule } from "../../model/rules.ts";
import { type AccessChain, chainDiagram, rulesOfChain, runChain } from "../diff/chain.ts";
import { conditionIn } from "../effect/conditions/condition.ts";
import { canonicalRead } from "../effect/data/data-path.ts";
import { type RequestData, withValue } from "../effect/data/request-data.ts";
import { RuleModel } from "../effect/model/rule-model.ts";
import { runCondition } from "../effect/rules/run-rules.ts";
import { searchWitness } from "../effect/witness/search-witness.ts";
import { inWords, sayTerm, type Term } from "../effect/words/in-words.ts";
import { type Work, withinSteps } from "../effect/work/work.ts";

/** A class of callers that the rules of a route distinguish. */
export interface CallerClass {
  /** Equal for the same class on other routes. */
  readonly key: string;
  /** Variables of its credentials; empty without credentials. */
  readonly credentials: readonly string[];
  /** Conditions that its callers meet, and those that they do not meet; none of both for any caller with these credentials. */
  readonly when: readonly string[];
  readonly unless: readonly string[];
  /** Example credentials, by variable. They meet no other condition of the rules that was avoidable. */
  readonly identities: RequestData;
}

/** The classes of callers of a chain. */
export interface CallerClasses {
  readonly subjects: readonly CallerClass[];
  /** Rules whose callers were not found, or only partly. */
  readonly undecided: readonly string[];
}

const IDENTITIES = ["jwt", "apiKey", "basicAuth"] as const;

/**
 * Returns the classes of callers that chains distinguish: without credentials, with any valid credentials, and those that
 * single rules name, together with what the other policies require of them.
 */
export function subjectsOf(chains: readonly AccessChain[], work: Work): CallerClasses {
  const found = new Map<string, CallerClass>();
  const undecided = new Set<string>();
  const examples = new Set<string>();
  const add = (subject: CallerClass) => {
    // Callers with the same example are the same for the rules that distinguish them.
    const example = JSON.stringify(subject.identities);
    if (found.has(subject.key) || examples.has(example)) return;
    found.set(subject.key, subject);
    examples.add(example);
  };
  for (const chain of chains) for (const subject of withoutConditions(chain)) add(subject);
  for (const chain of chains)
    for (const [stage, { rules }] of chain.stages.entries())
      for (const rule of rules) {
        const named = withinSteps(() => subjectsOfRule(chain, stage, rule, work.question()));
        for (const subject of named?.subjects ?? []) add(subject);
        if (named === undefined || !named.isComplete) undecided.add(rule.expression.source);
      }
  return { subjects: [...found.values()], undecided: [...undecided] };
}

/** Returns the callers without credentials, and those with valid credentials that meet no condition. */
function withoutConditions({ identities }: AccessChain): readonly CallerClass[] {
  const required = identities.filter(({ isRequired }) => isRequired);
  const all = identities.map(({ variable }) => [
    ...required.map((each) => each.variable),
    ...(required.some((each) => each.variable === variable) ? [] : [variable]),
  ]);
  return [[], ...all].map((credentials) => {
    const values = credentials.map((variable) => [variable, PLAIN[variable] ?? {}] as const);
    return subjectWith([], Object.fromEntries(values));
  });
}

/** Credentials that meet no condition. */
const PLAIN: RequestData = { jwt: {}, apiKey: {}, basicAuth: { username: "other" } };

/** Returns the callers for whom a rule can decide, if it reads their credentials. */
function subjectsOfRule(
  chain: AccessChain,
  stage: number,
  rule: Rule,
  work: Work,
): { readonly subjects: readonly CallerClass[]; readonly isComplete: boolean } {
  const nothing = { subjects: [], isComplete: true };
  const reads = rule.expression.reads.map((path) => canonicalRead(path)[0]);
  if (!reads.some((root) => isIdentity(root))) return nothing;
  const own = chainOfRule(chain, stage, rule);
  const conditions = own.identities.map(({ variable }) => conditionIn(`${variable} == null`, work));
  const phase = own.stages.some((each) => each.phase === "mcp") ? "mcp" : "request";
  const model = new RuleModel(phase, rulesOfChain(own), conditions, [], work);
  const isMcp = phase === "mcp";
  const complete = (data: RequestData): RequestData =>
    isMcp && data.mcp === undefined ? { ...data, mcp: SOME_TOOL } : data;
  const words = inWords(model, chainDiagram(own, model), (sign) => sign === "+");
  const found = words.terms.map((term, index) => {
    const path = words.paths[index] ?? new Map();
    const data = searchWitness(model, path, (each) => runChain(own, complete(each)).isAllowed);
    return data && subjectOfTerm(named(term, own), model, data);
  });
  const subjects = [
    ...found.filter((each) => each !== undefined),
    ...exceptions(model, phase, own.identities),
  ];
  const isComplete = model.isComplete && words.isComplete && !found.includes(undefined);
  return { subjects, isComplete };
}

/**
 * Returns a chain that allows exactly the callers that matter for a rule: of the rules that allow, it has this one alone. For
 * a rule that denies, the chain has only that rule, as one that allows.
 */
function chainOfRule({ identities, stages }: AccessChain, at: number, rule: Rule): AccessChain {
  const own = stages[at];
  if (own === undefined) throw new Error("a rule of another chain");
  if (rule.action === "deny")
    return { identities, stages: [{ ...own, rules: [{ ...rule, action: "allow" }] }] };
  const isKept = (each: Rule) => each === rule || each.action !== "allow";
  const kept = stages.map((stage, index) =>
    index === at ? { ...stage, rules: stage.rules.filter(isKept) } : stage,
  );
  return { identities, stages: kept };
}

const SOME_TOOL = { methodName: "tools/call", tool: { name: "other", target: "other" } };

/** Drops the conditions of a term that only rules which deny read, and that do not hold. */
function named(term: Term, chain: AccessChain): Term {
  const others = rulesOfChain(chain).filter(({ action }) => action !== "deny");
  const isPositive = (sign: Term[number]["sign"]) => sign === "is" || sign === "fails";
  return term.filter(
    ({ text, sign }) => isPositive(sign) || others.some((rule) => rule.text.includes(text)),
  );
}

/** Returns the callers that do not meet a condition which most callers meet: `jwt.sub != "eve"`. */
function exceptions(
  model: RuleModel,
  phase: "request" | "mcp",
  identities: AccessChain["identities"],
): readonly CallerClass[] {
  const { diagrams } = model;
  const common = Object.fromEntries(identities.map(({ variable }) => [variable, PLAIN[variable]]));
  return callerConditions(model).flatMap((leaf) => {
    const truthFor = (data: RequestData) => runCondition(leaf.text, phase, data);
    const paths = leaf.kind === "leaf" ? [leaf.path] : leaf.reads;
    const other = paths.reduce<RequestData>((data, path) => withValue(data, path, "other"), common);
    if (truthFor(common) !== "true" && truthFor(other) !== "true") return [];
    const isPresent = (data: RequestData) =>
      paths.every(([root = ""]) => !isIdentity(root) || (data[root] ?? null) !== null);
    for (const { at } of diagrams.paths(model.truth(leaf), (text) => text === "false").take(8)) {
      const data = searchWitness(
        model,
        at,
        (each) => isPresent(each) && truthFor(each) === "false",
      );
      const term = [{ text: withoutParentheses(leaf.text), sign: "is-not" }] as const;
      if (data !== undefined) return [subjectWith(term, { ...common, ...identitiesOf(data) })];
    }
    return [];
  });
}

/** Returns the conditions on the claims and other properties of callers. */
function callerConditions(model: RuleModel): RuleModel["leaves"] {
  return model.leaves.filter((leaf) => {
    const paths = leaf.kind === "leaf" ? [leaf.path] : leaf.reads;
    const isPresence = paths.length === 1 && paths[0]?.length === 1;
    return !isPresence && paths.some(([root]) => isIdentity(root));
  });
}

function subjectOfTerm(term: Term, model: RuleModel, data: RequestData): CallerClass {
  const conditions = callerConditions(model).map(({ text }) => withoutParentheses(text));
  const own = term.filter(({ text }) => conditions.includes(text));
  return subjectWith(own, identitiesOf(data));
}

function identitiesOf(data: RequestData): RequestData {
  return Object.fromEntries(
    IDENTITIES.flatMap((variable) => {
      const value = data[variable] ?? null;
      return value === null ? [] : [[variable, value] as const];
    }),
  );
}

function subjectWith(term: Term, identities: RequestData): CallerClass {
  const credentials = Object.keys(identities);
  const { when, unless } = sayTerm(term.toSorted((a, b) => (a.text < b.text ? -1 : 1)));
  const key = JSON.stringify([credentials.toSorted(), when, unless]);
  return { key, credentials, when, unless, identities };
}

function isIdentity(root: string | undefined): boolean {
  return IDENTITIES.some((each) => each === root);
}
