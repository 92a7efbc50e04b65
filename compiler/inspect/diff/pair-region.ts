import type { RouteEntry } from "../../ir/program.ts";
import type { PathMatch, RouteMatch, ValueMatch } from "../../model/matches.ts";
import type { Rule } from "../../model/rules.ts";
import { conditionIn, type RuleCondition } from "../effect/conditions/condition.ts";
import { dataAt, type RequestData } from "../effect/data/request-data.ts";
import { type NodeId, operation } from "../effect/diagram/diagrams.ts";
import type { RuleModel } from "../effect/model/rule-model.ts";
import type { Work } from "../effect/work/work.ts";
import { matchesPath, matchesValue } from "../routing/match-request.ts";
import { mayBothPaths } from "./path-overlap.ts";

/** The requests of a pair of routes: a union of ways. */
export type PairRegion = readonly RegionWay[];

/** Matches that requests must meet and must not meet to reach one entry before and another after. */
export interface RegionWay {
  readonly meets: readonly RouteMatch[];
  readonly misses: readonly RouteMatch[];
}

/** Maximum number of conditions; beyond it, rules are compared for all requests. */
const MAX_CONDITIONS = 80;

/** Returns the requests that reach one route before and another after, by path, method and headers. */
export function waysOf(
  before: readonly RouteEntry[],
  after: readonly RouteEntry[],
  from: string,
  to: string,
  work: Work,
): PairRegion {
  const [old, now] = [waysTo(before, from, work), waysTo(after, to, work)];
  work.spend(4 * old.length * now.length);
  return old.flatMap((a) =>
    now
      .filter((b) => mayBothPaths(a.meets.path, b.meets.path))
      .map((b) => {
        work.spend(16 * (1 + a.misses.length + b.misses.length));
        return { meets: [a.meets, b.meets], misses: [...a.misses, ...b.misses] };
      }),
  );
}

/** Matches that requests must meet and must not meet to reach an entry. */
interface EntryWay {
  readonly meets: RouteMatch;
  readonly misses: readonly RouteMatch[];
}

function waysTo(entries: readonly RouteEntry[], route: string, work: Work): readonly EntryWay[] {
  const { byRoute, byStart } = indexOf(entries);
  return (byRoute.get(route) ?? []).map(({ match, at }) => {
    const start = startOf(match.path);
    const near =
      start === undefined
        ? entries.map((each, index) => ({ ...each, at: index }))
        : [...(byStart.get(undefined) ?? []), ...(byStart.get(start) ?? [])];
    work.spend(8 * near.length);
    const misses = near
      .filter((each) => each.at < at && each.match.query.length === 0)
      .filter((each) => mayBothPaths(each.match.path, match.path))
      .toSorted((a, b) => a.at - b.at);
    return { meets: match, misses: misses.map((each) => each.match) };
  });
}

interface PlacedEntry extends RouteEntry {
  readonly at: number;
}

interface EntryIndex {
  readonly byRoute: ReadonlyMap<string, readonly PlacedEntry[]>;
  /** By the first segment of their path; `undefined` for paths that may start with any. */
  readonly byStart: ReadonlyMap<string | undefined, readonly PlacedEntry[]>;
}

/** Cached indexes, since a table may have thousands of routes. */
const indexes = new WeakMap<readonly RouteEntry[], EntryIndex>();

function indexOf(entries: readonly RouteEntry[]): EntryIndex {
  const known = indexes.get(entries);
  if (known !== undefined) return known;
  const placed = entries.map((each, at) => ({ ...each, at }));
  const index = {
    byRoute: Map.groupBy(placed, ({ route }) => route),
    byStart: Map.groupBy(placed, ({ match }) => startOf(match.path)),
  };
  indexes.set(entries, index);
  return index;
}

/** Returns the first segment of a path; paths with different first segments share no request. `undefined` if it is open. */
function startOf({ kind, value }: PathMatch): string | undefined {
  return kind === "regex" || value === "/" ? undefined : value.split("/", 2)[1];
}

/** A region as conditions for a rule model. */
export interface ReadRegion {
  /** All its conditions. */
  readonly conditions: readonly RuleCondition[];
  /** Creates a diagram that is `1` for requests in the region. */
  readonly diagram: (model: RuleModel) => NodeId;
  readonly has: (data: RequestData) => boolean;
}

/** Returns a region if rules read paths, methods or headers; `undefined` if they do not, so that it is irrelevant. */
export function askedRegion(
  region: (() => PairRegion | undefined) | undefined,
  rules: readonly Rule[],
): PairRegion | undefined {
  return rules.some(({ text }) => ASKED.test(text)) ? region?.() : undefined;
}

/** Whether a request is in a region. */
export function isWithinRegion(ways: PairRegion, data: RequestData): boolean {
  return ways.some(
    ({ meets, misses }) =>
      meets.every((each) => isMet(each, data)) && !misses.some((each) => isMet(each, data)),
  );
}

/** Converts a region to conditions; `undefined` if there are too many. */
export function readRegion(ways: PairRegion, work: Work): ReadRegion | undefined {
  const conditions = new Map<string, RuleCondition>();
  const known = (match: RouteMatch): RuleCondition => {
    const text = matchCondition(match);
    const condition = conditions.get(text) ?? conditionIn(text, work);
    conditions.set(text, condition);
    return condition;
  };
  const read = ways.map(({ meets, misses }) => ({
    meets: meets.map(known),
    misses: misses.map(known),
  }));
  if (conditions.size > MAX_CONDITIONS) return undefined;
  return {
    conditions: [...conditions.values()],
    has: (data) => isWithinRegion(ways, data),
    diagram: (model) => {
      const { diagrams } = model;
      const and = operation((sum, truth) => (sum === "1" && truth === "true" ? "1" : "0"));
      const without = operation((sum, truth) => (sum === "1" && truth !== "true" ? "1" : "0"));
      const or = operation((a, b) => (a === "1" || b === "1" ? "1" : "0"));
      const nodes = read.map(({ meets, misses }) => {
        const met = meets.reduce(
          (sum, each) => diagrams.apply(and, sum, model.truth(each)),
          diagrams.terminal("1"),
        );
        return misses.reduce((sum, each) => diagrams.apply(without, sum, model.truth(each)), met);
      });
      return nodes.reduce((sum, each) => diagrams.apply(or, sum, each), diagrams.terminal("0"));
    },
  };
}

/** Whether a request meets a match, without its hosts and query parameters. */
function isMet({ path, method, headers }: RouteMatch, data: RequestData): boolean {
  const textAt = (...steps: readonly string[]): string | undefined => {
    const found = dataAt(["request", ...steps], data);
    return typeof found === "string" ? found : undefined;
  };
  return (
    matchesPath(path, textAt("path") ?? "") &&
    (method === undefined || method === textAt("method")) &&
    headers.every((each) => matchesValue(each, textAt("headers", each.name)))
  );
}

const ASKED = /request\.(path|method|headers)/;

/** Formats a match as a CEL condition, without its hosts and query parameters. */
function matchCondition({ path, method, headers }: RouteMatch): string {
  const quoted = (text: string) => JSON.stringify(text);
  const value = ({ name, value: each }: ValueMatch) => {
    const header = `request.headers[${quoted(name)}]`;
    return each.kind === "exact"
      ? `${header} == ${quoted(each.value)}`
      : `${header}.matches(${quoted(`^(?:${each.value})$`)})`;
  };
  const conditions = [
    ...pathConditions(path),
    ...(method === undefined ? [] : [`request.method == ${quoted(method)}`]),
    ...headers.map(value),
  ];
  return conditions.length === 0 ? "true" : conditions.join(" && ");
}

function pathConditions(path: PathMatch): readonly string[] {
  const text = JSON.stringify(path.value);
  switch (path.kind) {
    case "exact":
      return [`request.path == ${text}`];
    case "regex":
      return [`request.path.matches(${JSON.stringify(`^(?:${path.value})$`)})`];
    case "prefix":
      if (path.value === "/") return [];
      return [
        `(request.path == ${text} || request.path.startsWith(${JSON.stringify(`${path.value}/`)}))`,
      ];
  }
}
