import type { RouteEntry } from "../../ir/program.ts";
import type { Work } from "../effect/work/work.ts";
import { mayBothPaths } from "./path-overlap.ts";
import type { TableOfHost } from "./table-side.ts";

/** What is different in the tables of a host. */
export interface ChangedEntries {
  /** Entries that one side alone has, or has in another place: whoever meets none of them gets the same on both sides. */
  readonly changed: readonly RouteEntry[];
  /** Of each side those that a request which meets some of them may meet, in order. */
  readonly before: readonly RouteEntry[];
  readonly after: readonly RouteEntry[];
}

/** More comparisons than this are not made to leave entries out. */
const MAX_COMPARISONS = 1_000_000;

/** Compares the tables of a host. */
export function changedEntries(
  before: TableOfHost,
  after: TableOfHost,
  work: Work,
): ChangedEntries {
  const count = before.lines.length + after.lines.length;
  work.spend(10 * count);
  const kept = keptLines(before.lines, after.lines);
  const stays = [new Set(kept.map(([at]) => at)), new Set(kept.map(([, at]) => at))] as const;
  const changed = [
    ...before.entries.filter((_, at) => !stays[0].has(at)),
    ...after.entries.filter((_, at) => !stays[1].has(at)),
  ];
  const paths = [
    ...new Map(changed.map(({ match: { path } }) => [`${path.kind} ${path.value}`, path])).values(),
  ];
  if (paths.length * count > MAX_COMPARISONS)
    return { changed, before: before.entries, after: after.entries };
  work.spend(paths.length * count);
  const mayBeMet = ({ match }: RouteEntry) => paths.some((path) => mayBothPaths(path, match.path));
  return {
    changed,
    before: before.entries.filter(mayBeMet),
    after: after.entries.filter(mayBeMet),
  };
}

/** Lines that both sides have in the same order, by their places: a longest increasing subsequence. */
function keptLines(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const places = new Map<string, number[]>();
  after.forEach((line, at) => {
    const known = places.get(line);
    if (known === undefined) places.set(line, [at]);
    else known.push(at);
  });
  const used = new Map<string, number>();
  const pairs = before.flatMap((line, at): readonly (readonly [number, number])[] => {
    const next = used.get(line) ?? 0;
    used.set(line, next + 1);
    const place = places.get(line)?.[next];
    return place === undefined ? [] : [[at, place]];
  });
  return longestIncreasing(pairs);
}

interface Chain {
  readonly pair: readonly [number, number];
  readonly before: Chain | undefined;
}

/** Of pairs in the order of their first numbers as many as there are whose second ones increase, too. */
function longestIncreasing(
  pairs: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const ends: Chain[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    ends[low] = { pair, before: ends[low - 1] };
  }
  const found: (readonly [number, number])[] = [];
  for (let at = ends.at(-1); at !== undefined; at = at.before) found.push(at.pair);
  return found;
}
