import { toolSets } from "../backends/index.ts";
import { type Diagnostics, keyPlace, type Origin, placeKey } from "../diagnostics/diagnostic.ts";
import type { BindNode, ListenerNode } from "../ir/program.ts";
import type { PathMatch } from "../model/matches.ts";

/** Reports views that no path of any of their routes can choose. */
export function checkViews(binds: readonly BindNode[], diagnostics: Diagnostics): void {
  const views = binds.flatMap((bind) => bind.listeners).flatMap(viewsOf);
  // Several routes may have the same backend, each with its own paths.
  for (const [, same] of Map.groupBy(views, ({ origin }) => placeKey(origin))) {
    const [first] = same;
    if (first !== undefined && !same.some(({ isReached }) => isReached))
      diagnostics.report("unreached-view", keyPlace(first.origin), { view: first.view });
  }
}

/** A view of a route, and whether a path of this route chooses it. */
interface ServedView {
  readonly view: string;
  readonly origin: Origin;
  readonly isReached: boolean;
}

/** Returns the views of a listener. Reads its table once, which may be long. */
function viewsOf({ routes, table }: ListenerNode): readonly ServedView[] {
  const written = table.flatMap(({ entries }) => entries.filter(({ match }) => !match.isDerived));
  const byRoute = Map.groupBy(written, ({ route }) => route);
  return routes.flatMap(({ id, backends }) =>
    backends.flatMap(toolSets).flatMap(({ view, origin }) => {
      if (view === undefined) return [];
      const isReached = byRoute.get(id)?.some(({ match }) => canChoose(match.path, view)) ?? false;
      return { view, origin, isReached };
    }),
  );
}

/** Whether a path that matches can end with the segment of a view. */
function canChoose(path: PathMatch, view: string): boolean {
  return path.kind !== "exact" || path.value.split("/").at(-1) === view;
}
