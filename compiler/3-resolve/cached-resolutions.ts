import type { IsolatedRoutes } from "../2-lower/kubernetes/isolate.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { CachedByObjects, valueDigest } from "../cached-results.ts";
import type { GatewayResource, RouteResource } from "../config/resources.ts";
import { SectionUse } from "../config/sections.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { RouteNode } from "../ir/program.ts";
import { type LiteralSecret, LiteralSecrets } from "../model/literal-secrets.ts";
import type { RouteMatch } from "../model/matches.ts";
import { sharedStoreOf } from "./store.ts";

/** A route with its matches. */
interface ResolvedMatches {
  readonly route: RouteNode;
  readonly matches: readonly RouteMatch[];
}

/** The state that resolving a route changes. */
interface FindingContext extends ConnectionContext {
  readonly sections: SectionUse;
}

/** A cached route, and the effects of resolving it. */
interface CachedResolution extends Found<ResolvedMatches> {
  /** Inputs besides its resource. */
  readonly from: string;
}

/** A result, and the effects of computing it. */
interface Found<Value> {
  readonly value: Value;
  readonly sections: SectionUse;
  readonly diagnostics: readonly Diagnostic[];
  readonly literals: readonly LiteralSecret[];
}

/** Caches resolved routes by resource. */
export class CachedResolutions {
  readonly #known: WeakMap<RouteResource, CachedResolution> = new WeakMap();
  readonly checks = new CachedChecks();
  /** Routes of which some parts are closed. */
  readonly variants: IsolatedRoutes = new CachedByObjects();

  /**
   * Returns a resolved route; `from` contains what it depends on besides its resource. Its name in the program is taken
   * anew each time, because it depends on the other routes.
   */
  of<Context extends FindingContext>(
    resource: RouteResource,
    from: string,
    context: Context,
    resolve: (context: Context) => ResolvedMatches,
    take: () => string,
  ): ResolvedMatches {
    const known = this.#known.get(resource);
    const isValid = known?.from === from && haveSameVariables(known.literals, context.literals);
    const cached = isValid ? known : { ...foundAlone(context, resolve), from };
    context.sections.add(cached.sections);
    for (const each of cached.diagnostics) context.diagnostics.add(each);
    const { route, matches } = cached.value;
    const id = take();
    const value = route.id === id ? cached.value : { route: { ...route, id }, matches };
    this.#known.set(resource, { ...cached, value });
    return value;
  }
}

/** Caches what checking objects found that no route uses. */
export class CachedChecks {
  readonly #known: WeakMap<object, Found<void>> = new WeakMap();

  /** Checks an object, unless that is known. */
  of<Context extends FindingContext>(
    checked: object,
    context: Context,
    check: (context: Context) => void,
  ): void {
    const known = this.#known.get(checked);
    const isValid = known !== undefined && haveSameVariables(known.literals, context.literals);
    const found = isValid ? known : foundAlone(context, check);
    this.#known.set(checked, found);
    for (const each of found.diagnostics) context.diagnostics.add(each);
  }
}

/**
 * Returns a function that digests what a route depends on besides its resource: its own listeners, so that a change of
 * another one does not concern it, and the backends and models of the Gateway.
 */
export function routeInputs({
  listeners,
  backends,
  modelCatalog,
  store,
  usage,
  workloadApi,
}: GatewayResource): (route: RouteResource) => string {
  const facts = [sharedStoreOf(store), workloadApi === undefined, usage?.isForCallers];
  const shared = valueDigest([[...backends], modelCatalog, ...facts]);
  const own = new Map(listeners.map((listener) => [listener.key, valueDigest(listener)]));
  return (route) => [shared, ...route.listeners.map(({ listener }) => own.get(listener))].join(" ");
}

/** Whether credentials get the same variables as before, which also depend on other routes. */
function haveSameVariables(found: readonly LiteralSecret[], literals: LiteralSecrets): boolean {
  return found.every(({ variable, value, at }) => literals.variableFor(value, at) === variable);
}

/** Computes a result separately from the others. */
function foundAlone<Context extends FindingContext, Value>(
  context: Context,
  find: (context: Context) => Value,
): Found<Value> {
  const diagnostics = context.diagnostics.separate();
  const own = { sections: new SectionUse(), literals: new LiteralSecrets(context.literals) };
  const value = find({ ...context, ...own, diagnostics });
  return {
    value,
    sections: own.sections,
    diagnostics: diagnostics.list,
    literals: own.literals.list,
  };
}
