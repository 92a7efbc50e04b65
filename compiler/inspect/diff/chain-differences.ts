import type { Rule } from "../../model/rules.ts";
import { conditionIn } from "../effect/conditions/condition.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { type NodeId, operation, type Path } from "../effect/diagram/diagrams.ts";
import { RuleModel } from "../effect/model/rule-model.ts";
import { searchWitness } from "../effect/witness/search-witness.ts";
import { inWords, type Term, type Wording } from "../effect/words/in-words.ts";
import { TooMuchWork, type Work, withinSteps, workOfCommand } from "../effect/work/work.ts";
import {
  type AccessChain,
  type ChainDecision,
  chainDiagram,
  chainKey,
  rulesOfChain,
  runChain,
} from "./chain.ts";
import { type ChainLikeness, chainLikeness, dataWithNames, withNames } from "./chain-likeness.ts";
import {
  askedRegion,
  isWithinRegion,
  type PairRegion,
  type ReadRegion,
  readRegion,
} from "./pair-region.ts";
import { shortList } from "./short-list.ts";

/** Requests that only one of two chains allows. */
export interface ChainDifference {
  readonly direction: "opens" | "closes";
  readonly term: Term;
  /** Whether there are more such requests than the term describes. */
  readonly isPartial: boolean;
  /** An example request, which was executed on both chains. */
  readonly example: RequestData;
  /** Whether the example meets the matches of the route; otherwise it has only what rules read. */
  readonly isPlaced: boolean;
  readonly before: ChainDecision;
  readonly after: ChainDecision;
}

/** Result of comparing two chains. */
export interface ChainDiff {
  readonly differences: readonly ChainDifference[];
  /** Unsolved conditions on which a difference may depend. */
  readonly undecided: readonly string[];
  /** False if the comparison was aborted because other questions used up the steps of the command. */
  readonly isFinal?: boolean;
}

/** Thrown if a computed difference is not confirmed by execution, which is a bug in gwc. */
class UnconfirmedDifference extends Error {}

const NONE: ChainDiff = { differences: [], undecided: [] };

/**
 * Compares two chains. `isMcp` means that requests are for items; `pairRegion` limits the requests; `work` has the remaining
 * steps of the command, from which this question takes its own.
 */
export function chainDiff(
  before: AccessChain,
  after: AccessChain,
  isMcp: boolean,
  pairRegion?: () => PairRegion | undefined,
  work: Work = workOfCommand(),
): ChainDiff {
  const [from, to] = [chainKey(before), chainKey(after)];
  if (from === to) return NONE;
  const rules = [...rulesOfChain(before), ...rulesOfChain(after)];
  const phase = isMcp ? "mcp" : "request";
  const ways = askedRegion(pairRegion, rules);
  if (ways !== undefined) return solveOnce(before, after, phase, ways, work.question());
  const key = `${phase}\n${from}\n${to}`;
  const known = solved.get(key);
  if (known !== undefined) return decidedBy(known, before, after);
  const found = solveOnce(before, after, phase, undefined, work.question());
  if (found.isFinal !== false) solved.set(key, found);
  return found;
}

/** Solves a change once for all chains that differ only in names. */
function solveOnce(
  before: AccessChain,
  after: AccessChain,
  phase: "request" | "mcp",
  ways: PairRegion | undefined,
  work: Work,
): ChainDiff {
  const chains = [before, after] as const;
  const own = chainLikeness(chains, phase, ways);
  const first = own && likes.get(own.key);
  const renamed = own && first && renamedDiff(first, own, chains, ways);
  if (renamed !== undefined) return renamed;
  const found = solve(before, after, phase, ways, work);
  if (own !== undefined && found.undecided.length === 0)
    likes.set(own.key, { likeness: own, found });
  return found;
}

interface SolvedLikeness {
  readonly likeness: ChainLikeness;
  readonly found: ChainDiff;
}

/** Solved changes by the structure of the chains without names. */
const likes = new Map<string, SolvedLikeness>();

/** Renames solved differences and executes each example again; `undefined` if one is not confirmed. */
function renamedDiff(
  { likeness, found }: SolvedLikeness,
  own: ChainLikeness,
  [before, after]: readonly [AccessChain, AccessChain],
  ways: PairRegion | undefined,
): ChainDiff | undefined {
  const differences = found.differences.map((each) => {
    const example = dataWithNames(each.example, likeness, own);
    const [old, now] = [runChain(before, example), runChain(after, example)];
    const isConfirmed =
      old.isAllowed === (each.direction === "closes") &&
      now.isAllowed === (each.direction === "opens") &&
      (ways === undefined || isWithinRegion(ways, example));
    const term = each.term.map(({ text, sign }) => ({
      text: withNames(text, likeness, own),
      sign,
    }));
    return isConfirmed ? { ...each, term, example, before: old, after: now } : undefined;
  });
  const whole = differences.filter((each) => each !== undefined);
  return whole.length < differences.length ? undefined : { differences: whole, undecided: [] };
}

/** Solved changes by chains: many routes have the same rules. */
const solved = new Map<string, ChainDiff>();

/** Evaluates known differences on chains with the same rules at other locations. */
function decidedBy({ differences, ...rest }: ChainDiff, before: AccessChain, after: AccessChain) {
  const own = differences.map((each) => ({
    ...each,
    before: runChain(before, each.example),
    after: runChain(after, each.example),
  }));
  return { ...rest, differences: own };
}

function solve(
  before: AccessChain,
  after: AccessChain,
  phase: "request" | "mcp",
  ways: PairRegion | undefined,
  work: Work,
): ChainDiff {
  const rules = [...rulesOfChain(before), ...rulesOfChain(after)];
  const identities = [...before.identities, ...after.identities].map(({ variable }) => variable);
  try {
    const conditions = [...new Set(identities)].map((each) => conditionIn(`${each} == null`, work));
    const region = ways && readRegion(ways, work);
    const model = new RuleModel(phase, rules, conditions, region?.conditions, work);
    const isMcp = phase === "mcp";
    return model.isComplete ? modelDiff(model, before, after, isMcp, region) : undecided(rules);
  } catch (error) {
    if (error instanceof TooMuchWork) return { ...undecided(rules), isFinal: !error.isOfAll };
    throw error;
  }
}

function undecided(rules: readonly Rule[]): ChainDiff {
  const texts = [...new Set(rules.map(({ expression }) => expression.source))];
  const what = `rules that take too many steps to solve: ${shortList(texts)}`;
  return { differences: [], undecided: texts.length === 0 ? [] : [what] };
}

/** A direction in which two chains differ, with a first example. */
interface ShownDirection {
  readonly change: string;
  readonly direction: ChainDifference["direction"];
  readonly path: Path;
  readonly found: Pick<ChainDifference, "example" | "before" | "after"> | undefined;
}

function modelDiff(
  model: RuleModel,
  before: AccessChain,
  after: AccessChain,
  isMcp: boolean,
  region: ReadRegion | undefined,
): ChainDiff {
  const { diagrams } = model;
  const pair = operation((old, now) => (old === now ? "" : `${old}${now}`));
  const all = diagrams.apply(pair, chainDiagram(before, model), chainDiagram(after, model));
  const given = region?.diagram(model);
  const node = given === undefined ? all : diagrams.select(given, all, diagrams.terminal(""));
  const confirm = (path: Path, direction: ChainDifference["direction"]) =>
    confirmed(model, path, direction, [before, after], isMcp, region);
  const shown = DIRECTIONS.flatMap(([change, direction]): readonly ShownDirection[] => {
    const [first] = diagrams.paths(node, (text) => text === change);
    if (first === undefined) return [];
    return [{ change, direction, path: first.at, found: confirm(first.at, direction) }];
  });
  const differences: ChainDifference[] = [];
  const open = new Set<string>();
  for (const each of shown) {
    const { change, direction } = each;
    const isPlaced = region !== undefined;
    const words = withinSteps(() => directionInWords(model, node, change, given, [before, after]));
    if (words === undefined) {
      // The difference is known but too expensive to describe: report it with its example only.
      if (each.found !== undefined)
        differences.push({ direction, term: [], isPartial: true, isPlaced, ...each.found });
      for (const text of opaqueTexts(model, each.path)) open.add(text);
      continue;
    }
    const { terms, paths, isComplete } = words;
    paths.forEach((path, index) => {
      const found = confirm(path, direction);
      if (found === undefined) {
        for (const text of opaqueTexts(model, path)) open.add(text);
        return;
      }
      const isPartial = !isComplete && index === paths.length - 1;
      differences.push({ direction, term: terms[index] ?? [], isPartial, isPlaced, ...found });
    });
  }
  return { differences, undecided: [...open] };
}

/** Describes the opened or closed requests by conditions of the rules. */
function directionInWords(
  model: RuleModel,
  node: NodeId,
  change: string,
  given: NodeId | undefined,
  chains: readonly AccessChain[],
): Wording {
  const isChange = (text: string) => text === change;
  const isOwn = (text: string) => !isOfRules(text, chains);
  const requests = given === undefined ? undefined : { node: given, says: isOwn };
  return inWords(model, node, isChange, undefined, requests);
}

function isOfRules(condition: string, chains: readonly AccessChain[]): boolean {
  return chains.some((chain) => rulesOfChain(chain).some(({ text }) => text.includes(condition)));
}

const DIRECTIONS = [
  ["-+", "opens"],
  ["+-", "closes"],
] as const;

/**
 * Finds a request on a path that the second chain opens or closes, confirmed on both chains; `undefined` if it depends on
 * unsolved conditions. Tried requests that flip in the other direction belong to another difference.
 */
function confirmed(
  model: RuleModel,
  path: Path,
  direction: ChainDifference["direction"],
  [before, after]: readonly [AccessChain, AccessChain],
  isMcp: boolean,
  region: ReadRegion | undefined,
): Pick<ChainDifference, "example" | "before" | "after"> | undefined {
  const complete = (data: RequestData): RequestData =>
    isMcp && data.mcp === undefined ? { ...data, mcp: SOME_TOOL } : data;
  const flips = (data: RequestData): boolean =>
    region?.has(complete(data)) !== false &&
    runChain(before, complete(data)).isAllowed === (direction === "closes") &&
    runChain(after, complete(data)).isAllowed === (direction === "opens");
  const found = searchWitness(model, path, flips);
  if (found === undefined) {
    if (opaqueTexts(model, path).length === 0 && !hasLists(model, path))
      throw new UnconfirmedDifference("execution does not confirm a computed difference");
    return undefined;
  }
  const example = complete(found);
  return { example, before: runChain(before, example), after: runChain(after, example) };
}

const SOME_TOOL = { methodName: "tools/call", tool: { name: "other", target: "other" } };

function opaqueTexts(model: RuleModel, path: Path): readonly string[] {
  return [...path.keys()].flatMap((level) => {
    const variable = model.variables[level];
    return variable?.kind === "opaque" ? variable.text : [];
  });
}

/** Whether a path has sizes of lists, which its required elements may contradict. */
function hasLists(model: RuleModel, path: Path): boolean {
  return [...path.keys()].some((level) => model.variables[level]?.kind === "size");
}
