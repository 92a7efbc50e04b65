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

/** The state that resolving a route changes. */
interface FindingContext extends ConnectionContext {
  readonly sections: SectionUse;
}

/** A cached route, and its effects on sections. */
interface CachedResolution {
  readonly resolved: ResolvedMatches;
  readonly sections: SectionUse;
}

/** Caches resolved routes by resource. Routes with diagnostics are not cached, so that these are reported again. */
export class CachedResolutions {
  readonly #known: WeakMap<RouteResource, CachedResolution> = new WeakMap();

  /**
   * Returns a resolved route. Its name in the program is taken anew each time, because it depends on the other
   * routes.
   */
  of<Context extends FindingContext>(
    resource: RouteResource,
    context: Context,
    resolve: (context: Context) => ResolvedMatches,
    take: () => string,
  ): ResolvedMatches {
    const cached = this.#known.get(resource) ?? resolvedAlone(context, resolve);
    if (cached === undefined) {
      const { route, matches } = resolve(context);
      return { route: { ...route, id: take() }, matches };
    }
    context.sections.add(cached.sections);
    const { route, matches } = cached.resolved;
    const id = take();
    const resolved = route.id === id ? cached.resolved : { route: { ...route, id }, matches };
    this.#known.set(resource, { ...cached, resolved });
    return resolved;
  }
}

/**
 * Resolves a route separately; returns `undefined` if it has diagnostics or literal secrets, which must not be
 * cached.
 */
function resolvedAlone<Context extends FindingContext>(
  context: Context,
  resolve: (context: Context) => ResolvedMatches,
): CachedResolution | undefined {
  const own = {
    diagnostics: new Diagnostics(),
    sections: new SectionUse(),
    literals: new LiteralSecrets(),
  };
  const resolved = resolve({ ...context, ...own });
  const { diagnostics, literals, sections } = own;
  return diagnostics.list.length + literals.list.length > 0 ? undefined : { resolved, sections };
}
