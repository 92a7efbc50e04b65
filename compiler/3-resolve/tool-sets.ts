import { toolSets } from "../backends/index.ts";
import { type Diagnostics, keyPlace, placeKey } from "../diagnostics/diagnostic.ts";
import type { BindNode } from "../ir/program.ts";
import type { PathMatch } from "../model/matches.ts";

/** Reports views that no path of any of their routes can choose. */
export function checkViews(binds: readonly BindNode[], diagnostics: Diagnostics): void {
  const listeners = binds.flatMap((bind) => bind.listeners);
  const views = listeners.flatMap(({ routes, table }) =>
    routes.flatMap((route) => {
      const entries = table.flatMap((host) => host.entries);
      const own = entries.filter((each) => each.route === route.id && !each.match.isDerived);
      return route.backends.flatMap(toolSets).flatMap(({ view, origin }) => {
        if (view === undefined) return [];
        return { view, origin, isReached: own.some(({ match }) => canChoose(match.path, view)) };
      });
    }),
  );
  // Several routes may have the same backend, each with its own paths.
  for (const [, same] of Map.groupBy(views, ({ origin }) => placeKey(origin))) {
    const [first] = same;
    if (first !== undefined && !same.some(({ isReached }) => isReached))
      diagnostics.report("unreached-view", keyPlace(first.origin), { view: first.view });
  }
}

/** Whether a path that matches can end with the segment of a view. */
function canChoose(path: PathMatch, view: string): boolean {
  return path.kind !== "exact" || path.value.split("/").at(-1) === view;
}
