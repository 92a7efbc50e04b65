import { withoutParentheses } from "../../../cel/parse/canonical-text.ts";
import type { LeafCondition, OpaqueCondition } from "../conditions/condition.ts";
import { ITEM } from "../data/request-data.ts";
import { type Diagrams, type NodeId, operation, type Path } from "../diagram/diagrams.ts";
import type { RuleModel } from "../model/rule-model.ts";

/** A condition of the rules, and how it holds. */
export interface RuleLiteral {
  /** The condition as the rules have it; of an item's kind: `tool`. */
  readonly text: string;
  readonly sign: LiteralSign;
}

/** How a condition holds: it is so, is not so (false, absent or of another type), fails, and so on. */
export type LiteralSign =
  | "is"
  | "is-not"
  | "fails"
  | "is-false"
  | "may-be"
  | "does-not-fail"
  | "item";

/** Conditions that must hold together. */
export type Term = readonly RuleLiteral[];

/** What a set of requests is, as alternatives; incomplete when there are more of them. */
export interface Wording {
  readonly terms: readonly Term[];
  /** For each term a path of the diagram that it covers. */
  readonly paths: readonly Path[];
  readonly isComplete: boolean;
}

/** The requests that words are about: what is so of all of them goes without saying. */
export interface GivenRequests {
  /** `1` for them. */
  readonly node: NodeId;
  /** Whether a condition is there for them alone: it is said when nothing else will do. */
  readonly says: (text: string) => boolean;
}

interface Candidate extends RuleLiteral {
  /** `1` where it holds. */
  readonly node: NodeId;
}

/** More alternatives than this help nobody. */
const MAX_TERMS = 8;

/**
 * The requests for which a diagram's terminal is wanted, in the words of the rules: from one such request all that is
 * so of it, less what does not matter, and again for the rest.
 */
export function inWords(
  model: RuleModel,
  node: NodeId,
  isWanted: (text: string) => boolean,
  /** The part of a diagram that is looked at, as `node` is one already. */
  within: (node: NodeId) => NodeId = (whole) => whole,
  given?: GivenRequests,
): Wording {
  const { diagrams } = model;
  const and = operation((a, b) => (a === "1" && b === "1" ? "1" : "0"));
  const without = operation((a, b) => (a === "1" && b !== "1" ? "1" : "0"));
  const always = diagrams.terminal("1");
  const never = diagrams.terminal("0");
  const whole = diagrams.map(
    operation((text) => (isWanted(text) ? "1" : "0")),
    node,
  );
  const terms: Term[] = [];
  const paths: Path[] = [];
  let rest = whole;
  while (rest !== never) {
    if (terms.length === MAX_TERMS) return { terms, paths, isComplete: false };
    const joined = (all: readonly Candidate[]): NodeId =>
      all.reduce((sum, each) => diagrams.apply(and, sum, each.node), given?.node ?? always);
    const implies = (all: readonly Candidate[]): boolean =>
      diagrams.apply(without, joined(all), whole) === never;
    const [found] = diagrams.paths(rest, (text) => text === "1");
    const path: Path = found?.at ?? new Map();
    paths.push(path);
    let kept = candidatesOf(model, path, within).filter((each) => each.node !== always);
    if (!implies(kept)) return { terms, paths, isComplete: false };
    const order = kept.toSorted(
      (a, b) =>
        Number(given?.says(b.text) ?? false) - Number(given?.says(a.text) ?? false) ||
        RANK[a.sign] - RANK[b.sign] ||
        b.text.length - a.text.length,
    );
    for (const each of order) {
      const fewer = kept.filter((other) => other !== each);
      model.work.spend(kept.length);
      if (implies(fewer)) kept = fewer;
    }
    terms.push(mergedTerm(kept));
    rest = diagrams.apply(without, rest, joined(kept));
  }
  return { terms, paths, isComplete: true };
}

/** What two signs of one condition say together. */
const TOGETHER: Readonly<Record<string, LiteralSign>> = {
  "does-not-fail is-not": "is-false",
  "does-not-fail may-be": "is",
  "is-not may-be": "fails",
};

/** The literals of a term, one for each condition. */
function mergedTerm(literals: Term): Term {
  return [...Map.groupBy(literals, ({ text }) => text)].flatMap(([text, same]) => {
    const signs = same.map(({ sign }) => sign).toSorted();
    const sign = TOGETHER[signs.join(" ")];
    return sign === undefined ? same.map((each) => ({ text, sign: each.sign })) : { text, sign };
  });
}

/** What is left out first, so that what stays is said as what is so; of conditions alike the longer one. */
const RANK: Readonly<Record<LiteralSign, number>> = {
  fails: 0,
  "is-false": 1,
  "does-not-fail": 2,
  "may-be": 3,
  "is-not": 4,
  item: 5,
  is: 6,
};

/** Everything that the conditions are for one of the requests. */
function candidatesOf(
  model: RuleModel,
  path: Path,
  within: (node: NodeId) => NodeId,
): readonly Candidate[] {
  const { diagrams } = model;
  const classOf = (level: number): number => path.get(level)?.[0] ?? 0;
  const leaves = model.leaves.flatMap((leaf) => {
    const truth = within(model.truth(leaf));
    const found = diagrams.textFor(truth, classOf);
    return signsOf(found).map((sign) => literalNode(diagrams, leaf, truth, sign));
  });
  const items = itemCandidate(model, classOf);
  return [...leaves, ...items.map((each) => ({ ...each, node: within(each.node) }))];
}

function signsOf(truth: string): readonly LiteralSign[] {
  if (truth === "true") return ["may-be", "does-not-fail", "is"];
  if (truth === "error") return ["is-not", "may-be", "fails"];
  return ["is-not", "does-not-fail", "is-false"];
}

function literalNode(
  diagrams: Diagrams,
  leaf: LeafCondition | OpaqueCondition,
  truth: NodeId,
  sign: LiteralSign,
): Candidate {
  const holds = operation((truth) => (isSo(sign, truth) ? "1" : "0"));
  return {
    text: withoutParentheses(leaf.text),
    sign,
    node: diagrams.map(holds, truth),
  };
}

function isSo(sign: LiteralSign, truth: string): boolean {
  switch (sign) {
    case "is":
      return truth === "true";
    case "is-not":
      return truth !== "true";
    case "is-false":
      return truth === "false";
    case "may-be":
      return truth !== "false";
    case "fails":
      return truth === "error";
    default:
      return truth !== "error";
  }
}

/** The kind of the item, where rules ask for it. */
function itemCandidate(model: RuleModel, classOf: (level: number) => number): readonly Candidate[] {
  const level = model.variables.findIndex((each) => "path" in each && each.path === ITEM);
  const variable = model.variables[level];
  if (variable?.kind !== "value") return [];
  const found = classOf(level);
  const children = variable.classes.map((_, at) =>
    model.diagrams.terminal(at === found ? "1" : "0"),
  );
  const text = String(variable.classes[found]?.example);
  return [{ text, sign: "item", node: model.diagrams.choice(level, children) }];
}

/** A term as people read it: what must be so, and what must not. */
export interface SaidTerm {
  readonly when: readonly string[];
  readonly unless: readonly string[];
}

/** A term in words; nothing on either side: always. */
export function sayTerm(term: Term): SaidTerm {
  const when = term.filter(({ sign }) => sign !== "is-not").map(literalText);
  const unless = term.filter(({ sign }) => sign === "is-not").map(({ text }) => text);
  return { when, unless };
}

function literalText({ text, sign }: RuleLiteral): string {
  switch (sign) {
    case "fails":
      return `${text} fails`;
    case "is-false":
      return `${text} is false`;
    case "may-be":
      return `${text} is not false`;
    case "does-not-fail":
      return `${text} does not fail`;
    case "item":
      return text === "none" ? "no item" : `a ${text}`;
    default:
      return text;
  }
}

/** A term as an expression that is true for what it says. */
export function termExpression(term: Term): string {
  const parts = term.flatMap(literalExpression);
  return parts.length === 0 ? "true" : parts.join(" && ");
}

function literalExpression({ text, sign }: RuleLiteral): string | readonly string[] {
  switch (sign) {
    case "is":
      return text;
    case "is-not":
      // a value that is no bool is not true
      return `!default(${PATH_ALONE.test(text) ? `${text} == true` : text}, false)`;
    case "is-false":
      return `!(${text})`;
    case "may-be":
      return `default(${text}, true)`;
    case "item":
      return text === "none" ? [] : `has(mcp.${text})`;
    case "does-not-fail":
      return `(${text} || !(${text}))`;
    case "fails":
      return `default((${text}) ? false : false, true)`;
  }
}

/** `jwt.verified`, `request.headers["x-a"]`: any value may be there. */
const PATH_ALONE = /^[A-Za-z_]\w*(?:\.\w+|\["[^"\\]*"\])*$/;
