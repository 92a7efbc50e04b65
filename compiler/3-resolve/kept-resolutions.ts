import type { ConnectionContext } from "../backends/parts/connection.ts";
import type { RouteResource } from "../config/resources.ts";
import { SectionUse } from "../config/sections.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { RouteNode } from "../ir/program.ts";
import { LiteralSecrets } from "../model/literal-secrets.ts";
import type { RouteMatch } from "../model/matches.ts";

/** A route with its matches. */
interface ResolvedMatches {
  readonly route: RouteNode;
  readonly matches: readonly RouteMatch[];
}

/** What resolving a route tells others. */
interface FindingContext extends ConnectionContext {
  readonly sections: SectionUse;
}

/** A route as it was resolved, and what was found out about sections. */
interface KeptResolution {
  readonly resolved: ResolvedMatches;
  readonly sections: SectionUse;
}

/** Routes as they were resolved: the same resource means the same. One with something to report is resolved again. */
export class KeptResolutions {
  readonly #known: WeakMap<RouteResource, KeptResolution> = new WeakMap();

  /** A resolved route; its name in the program is taken each time, for which it is depends on the others. */
  of<Context extends FindingContext>(
    resource: RouteResource,
    context: Context,
    resolve: (context: Context) => ResolvedMatches,
    take: () => string,
  ): ResolvedMatches {
    const kept = this.#known.get(resource) ?? resolvedAlone(context, resolve);
    if (kept === undefined) {
      const { route, matches } = resolve(context);
      return { route: { ...route, id: take() }, matches };
    }
    context.sections.add(kept.sections);
    const { route, matches } = kept.resolved;
    const id = take();
    const resolved = route.id === id ? kept.resolved : { route: { ...route, id }, matches };
    this.#known.set(resource, { ...kept, resolved });
    return resolved;
  }
}

/** Undefined when there is something to report, or to keep apart from the program. */
function resolvedAlone<Context extends FindingContext>(
  context: Context,
  resolve: (context: Context) => ResolvedMatches,
): KeptResolution | undefined {
  const own = {
    diagnostics: new Diagnostics(),
    sections: new SectionUse(),
    literals: new LiteralSecrets(),
  };
  const resolved = resolve({ ...context, ...own });
  const { diagnostics, literals, sections } = own;
  return diagnostics.list.length + literals.list.length > 0 ? undefined : { resolved, sections };
}
