import { withoutParentheses } from "../../../cel/parse/canonical-text.ts";
import type { LeafCondition, OpaqueCondition } from "../conditions/condition.ts";
import { ITEM } from "../data/request-data.ts";
import { type Diagrams, type NodeId, operation, type Path } from "../diagram/diagrams.ts";
import type { RuleModel } from "../model/rule-model.ts";

/** A condition of the rules and its required truth. */
export interface RuleLiteral {
  /** Source of the condition; for the kind of an item: `tool`. */
  readonly text: string;
  readonly sign: LiteralSign;
}

/** Required truth of a condition: true, not true (false, absent or of another type), an error, and so on. */
export type LiteralSign =
  | "is"
  | "is-not"
  | "fails"
  | "is-false"
  | "may-be"
  | "does-not-fail"
  | "item";

/** A conjunction of conditions. */
export type Term = readonly RuleLiteral[];

/** A set of requests as a disjunction of terms; incomplete if there are more than MAX_TERMS. */
export interface Wording {
  readonly terms: readonly Term[];
  /** A path of the diagram for each term. */
  readonly paths: readonly Path[];
  readonly isComplete: boolean;
}

/** The requests to describe; conditions that hold for all of them are omitted. */
export interface GivenRequests {
  /** Diagram that is `1` for these requests. */
  readonly node: NodeId;
  /** Whether a condition only serves to select these requests, so that it is used only if necessary. */
  readonly says: (text: string) => boolean;
}

interface Candidate extends RuleLiteral {
  /** Diagram that is `1` where the literal holds. */
  readonly node: NodeId;
}

/** Maximum number of alternatives in a wording. */
const MAX_TERMS = 8;

/**
 * Describes the requests with wanted terminals by conditions of the rules. Starts with all conditions that hold for one such
 * request, drops those that are not needed, and repeats this for the requests that are not yet covered.
 */
export function inWords(
  model: RuleModel,
  node: NodeId,
  isWanted: (text: string) => boolean,
  /** Restricts other diagrams in the same way as `node` already is. */
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
    let needed = candidatesOf(model, path, within).filter((each) => each.node !== always);
    if (!implies(needed)) return { terms, paths, isComplete: false };
    const order = needed.toSorted(
      (a, b) =>
        Number(given?.says(b.text) ?? false) - Number(given?.says(a.text) ?? false) ||
        RANK[a.sign] - RANK[b.sign] ||
        b.text.length - a.text.length,
    );
    for (const each of order) {
      const fewer = needed.filter((other) => other !== each);
      model.work.spend(needed.length);
      if (implies(fewer)) needed = fewer;
    }
    terms.push(mergedTerm(needed));
    rest = diagrams.apply(without, rest, joined(needed));
  }
  return { terms, paths, isComplete: true };
}

/** Combined sign of two signs of the same condition. */
const TOGETHER: Readonly<Record<string, LiteralSign>> = {
  "does-not-fail is-not": "is-false",
  "does-not-fail may-be": "is",
  "is-not may-be": "fails",
};

/** Merges the literals of a term, so that each condition occurs once. */
function mergedTerm(literals: Term): Term {
  return [...Map.groupBy(literals, ({ text }) => text)].flatMap(([text, same]) => {
    const signs = same.map(({ sign }) => sign).toSorted();
    const sign = TOGETHER[signs.join(" ")];
    return sign === undefined ? same.map((each) => ({ text, sign: each.sign })) : { text, sign };
  });
}

/** Order in which literals are dropped, so that positive ones remain; among equals, longer ones are dropped first. */
const RANK: Readonly<Record<LiteralSign, number>> = {
  fails: 0,
  "is-false": 1,
  "does-not-fail": 2,
  "may-be": 3,
  "is-not": 4,
  item: 5,
  is: 6,
};

/** Lists all literals that hold for a request on a path. */
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

/** Returns the literal for the kind of the item, if the rules distinguish it. */
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

/** A term for people: the conditions that must hold, and those that must not. */
export interface SaidTerm {
  readonly when: readonly string[];
  readonly unless: readonly string[];
}

/** Formats a term; empty on both sides means always. */
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

/** Formats a term as a CEL expression. */
export function termExpression(term: Term): string {
  const parts = term.flatMap(literalExpression);
  return parts.length === 0 ? "true" : parts.join(" && ");
}

function literalExpression({ text, sign }: RuleLiteral): string | readonly string[] {
  switch (sign) {
    case "is":
      return text;
    case "is-not":
      // A value of another type is not true.
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

/** Matches `jwt.verified` and `request.headers["x-a"]`, whose values may have any type. */
const PATH_ALONE = /^[A-Za-z_]\w*(?:\.\w+|\["[^"\\]*"\])*$/;
