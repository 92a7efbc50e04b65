import type { RouteEntry } from "../../ir/program.ts";
import type { Work } from "../effect/work/work.ts";
import { matchesPath } from "../routing/match-request.ts";

/** Returns a function that finds the entries that match a path, in order. Constants are looked up, as there may be thousands. */
export function pathIndex(
  entries: readonly RouteEntry[],
  work: Work,
): (path: string) => readonly RouteEntry[] {
  work.spend(8 * entries.length);
  const placed = entries.map((entry, at) => ({ entry, at }));
  const ofKind = (kind: string) =>
    Map.groupBy(
      placed.filter(({ entry }) => entry.match.path.kind === kind),
      ({ entry }) => entry.match.path.value,
    );
  const [exact, prefixes] = [ofKind("exact"), ofKind("prefix")];
  const patterns = placed.filter(({ entry }) => entry.match.path.kind === "regex");
  return (path) => {
    const starts = ["/", path, ...startsOf(path)];
    work.spend(8 + 4 * starts.length + patterns.length * (8 + path.length));
    const found = [
      ...(exact.get(path) ?? []),
      ...new Set(starts.flatMap((start) => prefixes.get(start) ?? [])),
      ...patterns.filter(({ entry }) => matchesPath(entry.match.path, path)),
    ];
    work.spend(4 * found.length);
    return found.sort((a, b) => a.at - b.at).map(({ entry }) => entry);
  };
}

/** Returns `/a` and `/a/b` for `/a/b/c`. */
function startsOf(path: string): readonly string[] {
  const starts: string[] = [];
  for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1))
    starts.push(path.slice(0, at));
  return starts;
}
