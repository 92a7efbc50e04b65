import type { RouteEntry } from "../../ir/program.ts";
import type { Work } from "../effect/work/work.ts";
import { mayBothPaths } from "./path-overlap.ts";
import type { TableOfHost } from "./table-side.ts";

/** Differences between the tables of a host. */
export interface ChangedEntries {
  /** Entries that are on one side only or moved; requests that match none of them are treated the same on both sides. */
  readonly changed: readonly RouteEntry[];
  /** Entries of each side that may match the same requests as a changed one, in order. */
  readonly before: readonly RouteEntry[];
  readonly after: readonly RouteEntry[];
}

/** Maximum number of comparisons for excluding unaffected entries. */
const MAX_COMPARISONS = 1_000_000;

/** Compares the tables of a host. */
export function changedEntries(
  before: TableOfHost,
  after: TableOfHost,
  work: Work,
): ChangedEntries {
  const count = before.lines.length + after.lines.length;
  work.spend(10 * count);
  const same = unchangedLines(before.lines, after.lines);
  const stays = [new Set(same.map(([at]) => at)), new Set(same.map(([, at]) => at))] as const;
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

/** Returns the index pairs of lines that both sides have in the same order: a longest increasing subsequence. */
function unchangedLines(
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

/** Returns a longest subsequence of pairs, sorted by their first numbers, whose second numbers increase. */
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
