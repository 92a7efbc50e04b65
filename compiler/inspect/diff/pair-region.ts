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

/** The requests of a pair of routes: those that go one of these ways. */
export type PairRegion = readonly RegionWay[];

/** What requests must be, and must not be, to go from one entry of a table to another one. */
export interface RegionWay {
  readonly meets: readonly RouteMatch[];
  readonly misses: readonly RouteMatch[];
}

/** More conditions than this are not looked at: what rules decide is said for all requests then. */
const MAX_CONDITIONS = 80;

/** How requests of both entries come to both routes, as far as paths, methods and headers say it. */
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

/** What requests must be to meet an entry of a table, and must not be. */
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
  /** By the first step of their path; undefined: of those that may begin with any. */
  readonly byStart: ReadonlyMap<string | undefined, readonly PlacedEntry[]>;
}

/** A table is asked about each of its routes: it may have thousands. */
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

/** The first step of a path: two paths of which none begins with any and that differ in it have no request in common. */
function startOf({ kind, value }: PathMatch): string | undefined {
  return kind === "regex" || value === "/" ? undefined : value.split("/", 2)[1];
}

/** A region whose conditions are read, so that it can be computed with. */
export interface ReadRegion {
  /** All its conditions. */
  readonly conditions: readonly RuleCondition[];
  /** `1` for the requests in it. */
  readonly diagram: (model: RuleModel) => NodeId;
  readonly has: (data: RequestData) => boolean;
}

/** A region, where rules ask for what it is about. */
export function askedRegion(
  region: (() => PairRegion | undefined) | undefined,
  rules: readonly Rule[],
): PairRegion | undefined {
  return rules.some(({ text }) => ASKED.test(text)) ? region?.() : undefined;
}

/** Whether requests are of a region. */
export function isWithinRegion(ways: PairRegion, data: RequestData): boolean {
  return ways.some(
    ({ meets, misses }) =>
      meets.every((each) => isMet(each, data)) && !misses.some((each) => isMet(each, data)),
  );
}

/** Reads a region; undefined: it has too many conditions. */
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

/** Whether a request is as a match asks, whatever it says of hosts and query parameters. */
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

/** A match as a condition of CEL; what it says of hosts and query parameters is not in it. */
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
