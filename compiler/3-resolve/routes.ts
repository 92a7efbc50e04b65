import { withTextHooks } from "../backends/index.ts";
import { intersectHostnames } from "../config/hostnames.ts";
import type { ListenerResource, RouteBackend, RouteResource } from "../config/resources.ts";
import { childOf, type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { PolicyKind, PolicyUse } from "../ir/policies.ts";
import type { RouteBackendNode, RouteNode } from "../ir/program.ts";
import type { Identifiers } from "../model/identifiers.ts";
import type { PathMatch, RouteMatch } from "../model/matches.ts";
import type { ModelPrices } from "../model/model-prices.ts";
import {
  identities,
  identityFields,
  type PolicyConfig,
  passesAnonymous,
  policyOf,
  policyOfKind,
} from "../policies/index.ts";
import {
  asksModels,
  checkShares,
  itemTargetsOf,
  modelNamesOf,
  openProxyOf,
  protocolOf,
  resolveBackends,
  serverChoice,
  spendsTokens,
} from "./backends.ts";
import type { CachedResolutions } from "./cached-resolutions.ts";
import { withoutConsequences } from "./consequences.ts";
import { checkCredentials, checkPreflights } from "./credential-conflicts.ts";
import type { ListenerContext } from "./listeners.ts";
import { effectivePolicies, type PolicyPlace, resolvePolicies } from "./policies.ts";
import { afterPolicies, providedBefore } from "./provided-values.ts";
import { inRequestOrder } from "./request-order.ts";
import { withResponsePools } from "./response-pools.ts";
import { resolveMatch, trimmedPrefix } from "./route-matches.ts";
import type { TableRoute } from "./routing-table.ts";

/** Services shared by resolving all routes. */
export interface RouteContext extends ListenerContext {
  readonly names: Identifiers;
  /** Listeners by key. */
  readonly listeners: ReadonlyMap<string, ListenerResource>;
  /** Names of listeners, separate because they name another kind of function. */
  readonly listenerNames: Identifiers;
  /** Prices of models; `undefined` if the configuration has none. */
  readonly modelPrices?: ModelPrices | undefined;
  /** Usage of models that is stored; `undefined` if none is. */
  readonly usage?: { readonly isForCallers: boolean } | undefined;
}

/** A route with its matches, without its listeners. */
export type ResolvedRoute = Omit<TableRoute, "hostnames">;

/** A cache for the routes of a Gateway, and digests of what they depend on besides their resources. */
export interface RouteCache {
  readonly resolutions: CachedResolutions;
  readonly from: (route: RouteResource) => string;
}

/** Resolves a route, once for all of its listeners; unchanged routes come from `cache`. */
export function resolveRoute(
  resource: RouteResource,
  context: RouteContext,
  cache?: RouteCache,
): ResolvedRoute {
  const name = resource.name ?? routeName(resource);
  const take = () => context.names.take(...(resource.ids ?? [name]));
  const resolve = (own: RouteContext) => unnamedRoute(resource, name, own);
  if (cache !== undefined)
    return cache.resolutions.of(resource, cache.from(resource), context, resolve, take);
  const { route, matches } = resolve(context);
  return { route: { ...route, id: take() }, matches };
}

/** Resolves a route without its name in the program. */
function unnamedRoute(resource: RouteResource, name: string, whole: RouteContext): ResolvedRoute {
  const { origin } = resource;
  const context = withoutConsequences(whole, resource, ...listenersOf(resource, whole));
  const matches = resource.matches.flatMap((match) => resolveMatch(match, context) ?? []);
  const given =
    openProxyOf(resource.backends) === undefined ? resource.policies : ofProxy(resource);
  const before = listenersOf(resource, whole).flatMap((listener) => listener.policies);
  const other = { name: "listener", kinds: before.map(({ kind }) => kind) } as const;
  const ordered = inRequestOrder(given, other, context.diagnostics);
  const { policies, response } = effectivePolicies(ordered, resource.backends, context);
  const lacksBackend = resource.backends.length === 0 && response === undefined;
  if (lacksBackend && resource.refusal === undefined) {
    context.diagnostics.report("route-without-backend", origin, { route: name });
  }
  if (lacksBackend && resource.refusal === "noBackend") {
    context.diagnostics.report("rule-without-backend", origin, { route: name });
  }
  const place = routePlace(resource, policies, context);
  const uses = resolvePolicies(
    isServed(resource) ? policies : withoutCalls(policies),
    place,
    context,
  );
  // Backends are called after all policies, so their expressions read what these provide.
  const after = { ...place, route: afterPolicies(place.route, policies, uses) };
  const backends = resolveBackends(
    resource.backends,
    {
      ...context,
      ...after,
      identities,
      user: "promptGuard",
    },
    (own, share) => resolvePolicies(own, { ...after, isOnBackend: true, ...share }, context),
  );
  checkShares(resource, policies, context.diagnostics);
  checkRepeated(resource, policies, context);
  checkCredentials(policies, listenersOf(resource, context), context.diagnostics);
  checkPreflights(policies, listenersOf(resource, context), context.diagnostics);
  checkWeights(resource, context);
  checkOpenProxy(resource, name, context);
  const own: RouteNode = {
    id: "",
    name,
    policies: uses,
    backends: response === undefined ? withHooks(backends, uses, context.diagnostics) : [],
    ...(lacksBackend && resource.refusal && { refusal: resource.refusal }),
    origin,
  };
  const around = listenersOf(resource, context).map((listener) => listener.policies);
  const route = withResponsePools(own, around);
  // Without a valid match (reported) the route serves nothing. Neither does a partial one, because a restricting
  // condition may have been omitted.
  if (matches.length === 0 || resource.isPartial === true) return { route, matches: [] };
  return { route, matches: [...matches, ...policyMatches(route, matches)] };
}

/** Returns backends whose model calls show their texts to policies of the route. */
function withHooks(
  backends: readonly RouteBackendNode[],
  uses: readonly PolicyUse[],
  diagnostics: Diagnostics,
): readonly RouteBackendNode[] {
  const hooks = uses.flatMap((use) => textHooksOf(use) ?? []);
  const [first] = hooks;
  if (first === undefined) return backends;
  const all = {
    request: hooks.some(({ request }) => request),
    response: hooks.some((each) => each.response),
    origin: first.origin,
  };
  return backends.flatMap((each) => {
    const hooked = withTextHooks(each, all, diagnostics);
    return hooked === undefined ? [] : [{ ...each, ...hooked }];
  });
}

function textHooksOf<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>) {
  return policyOf(kind).traits.textHooks?.(settings);
}

/** Returns the matches that policies of a route add. */
function policyMatches(
  { policies, origin }: RouteNode,
  matches: readonly RouteMatch[],
): readonly RouteMatch[] {
  const paths = matches.map(({ path }) => path);
  const prefixes = policies.flatMap((use) => addedPrefixes(use, paths));
  return prefixes.map((value) => ({
    path: { kind: "prefix", value },
    method: undefined,
    headers: [],
    query: [],
    isDerived: true,
    origin,
  }));
}

function addedPrefixes<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  paths: readonly PathMatch[],
): readonly string[] {
  return policyOf(kind).traits.addPrefixes?.(paths, settings) ?? [];
}

/**
 * Returns the route's own hostnames, which determine its precedence, as far as they intersect with the listener's.
 */
export function resolveHostnames(
  hostnames: readonly string[],
  listener: ListenerResource,
  route: Pick<RouteResource, "origin" | "isPartial">,
  context: RouteContext,
): readonly string[] {
  if (hostnames.length === 0) return ["*"];
  const { diagnostics } = withoutConsequences(context, listener, route);
  return hostnames.filter((hostname, index) => {
    const isShared = intersectHostnames(hostname, listener.hostname) !== undefined;
    if (!isShared) {
      const at = childOf(route.origin, "hostnames", index);
      diagnostics.report("hostname-mismatch", at, { hostname, listener: listener.hostname });
    }
    return isShared;
  });
}

/** Returns a name for a route without one: from its first path, or else its first hostname. */
function routeName({ matches, listeners }: RouteResource): string {
  const path = matches[0]?.path.value.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  if (path !== undefined && path !== "") return path;
  return listeners[0]?.hostnames[0] ?? "root";
}

/** Reports an open proxy: without rules, every client could reach anything through it. */
function checkOpenProxy(resource: RouteResource, route: string, context: RouteContext): void {
  const proxy = openProxyOf(resource.backends);
  if (proxy === undefined || hasRules(resource) || hasOwnRules(proxy)) return;
  // Rules before routing suffice if every listener of the route has them.
  if (listenersOf(resource, context).every(hasRules)) return;
  context.diagnostics.report("open-proxy", keyPlace(proxy.origin), {
    route,
    by: serverChoice(proxy) ?? "host",
  });
}

/** Returns the policies of a route through which clients choose the server. */
function ofProxy({ policies }: RouteResource): readonly PolicyConfig[] {
  return policies.map(<Kind extends PolicyKind>(policy: PolicyConfig<Kind>) => {
    const { forProxy } = policyOf<Kind>(policy.kind).lowering;
    return forProxy === undefined ? policy : { ...policy, config: forProxy(policy.config) };
  });
}

/** Reports policies that repeat the work of the listener's policies, which also act on the route's requests. */
function checkRepeated(
  resource: RouteResource,
  policies: readonly PolicyConfig[],
  context: RouteContext,
): void {
  const before = listenersOf(resource, context).flatMap((listener) => listener.policies);
  for (const each of policies) checkRepeatedPolicy(each, before, context.diagnostics);
}

function checkRepeatedPolicy<Kind extends PolicyKind>(
  { kind, config }: PolicyConfig<Kind>,
  all: readonly PolicyConfig[],
  diagnostics: Diagnostics,
): void {
  const before = policyOfKind(all, kind);
  if (before !== undefined)
    policyOf(kind).lowering.checkRepeated?.(config, before.config, diagnostics);
}

/** Returns the policies that let requests without an identity pass, unless rules decide on these. */
function optionalOf(policies: readonly PolicyConfig[]): readonly string[] {
  return hasRules({ policies }) ? [] : policies.filter(passesAnonymous).map(({ kind }) => kind);
}

function hasOwnRules({ ownPolicies = [] }: RouteBackend): boolean {
  return hasRules({ policies: ownPolicies });
}

function hasRules({ policies }: Pick<RouteResource, "policies">): boolean {
  return policies.some(({ kind }) => policyOf(kind).access?.restrictsAccess === true);
}

function listenersOf(
  { listeners }: RouteResource,
  context: RouteContext,
): readonly ListenerResource[] {
  return listeners.flatMap(({ listener }) => context.listeners.get(listener) ?? []);
}

/** Whether a policy counts costs by the prices of models. */
function countsCosts<Kind extends PolicyKind>({ kind, config }: PolicyConfig<Kind>): boolean {
  return policyOf(kind).traits.countsCosts?.(config) === true;
}

/** Returns the facts about a route that its policies can use. */
function routePlace(
  resource: RouteResource,
  policies: readonly PolicyConfig[],
  context: RouteContext,
): PolicyPlace {
  const paths = resource.matches.map(({ path }) => path);
  const preRouting = listenersOf(resource, context).flatMap((listener) => listener.policies);
  return {
    phase: "PostRouting",
    route: {
      protocol: protocolOf(resource.backends),
      asksModels: resource.isPartial === true ? undefined : asksModels(resource.backends),
      spendsTokens: resource.isPartial === true ? undefined : spendsTokens(resource.backends),
      policies: policies.map(({ kind }) => kind),
      preRouting: preRouting.map(({ kind }) => kind),
      optional: optionalOf([...policies, ...preRouting]),
      countsCosts: context.usage !== undefined || [...policies, ...preRouting].some(countsCosts),
      identityFields: [
        ...[...policies, ...preRouting].flatMap((policy) => identityFields(policy) ?? []),
        ...providedBefore(preRouting, context),
      ],
      // Item and model names may belong to a server that was omitted.
      itemTargets: resource.isPartial === true ? undefined : itemTargetsOf(resource.backends),
      modelNames: resource.isPartial === true ? undefined : modelNamesOf(resource.backends),
      prefixes: paths.every(({ kind }) => kind === "prefix")
        ? [...new Set(paths.map(({ value }) => trimmedPrefix(value)))]
        : undefined,
    },
  };
}

/** Reports routes whose backends all have weight 0. */
function checkWeights(resource: RouteResource, { diagnostics }: RouteContext): void {
  const [first] = resource.backends;
  if (first === undefined || isServed(resource)) return;
  diagnostics.report("no-weight", keyPlace(first.origin), {
    outcome: "every request is answered 500",
  });
}

/** Whether requests of the route reach a backend, or need none. */
function isServed({ backends, refusal }: RouteResource): boolean {
  if (refusal !== undefined) return false;
  return backends.length === 0 || backends.some(({ weight }) => weight !== 0);
}

/** Omits the policies that act on the call to a backend, if there is no call. */
function withoutCalls(policies: readonly PolicyConfig[]): readonly PolicyConfig[] {
  return policies.filter(({ kind }) => policyOf(kind).traits.actsOnCall !== true);
}
