import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
  placeKey,
} from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { LlmPolicies, RouteType } from "../../model/llm-policies.ts";
import type { BackendUse } from "../backend.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import type { AiConfig } from "./ai-config.ts";
import type { AiNode, AiProviderNode, ModelNode } from "./ai-node.ts";
import { checkModelFields } from "./check-model-fields.ts";
import { checkProviders } from "./check-providers.ts";
import { checkRequestFields } from "./check-request-fields.ts";
import { apiTypes, withSharedPaths } from "./door-apis.ts";
import { resolveModelConditions } from "./model-conditions.ts";
import { OWN_TYPES, type ProviderPlace, resolveProvider } from "./resolve-provider.ts";
import { batchedByType, checkStoredTypes, ownsResponses } from "./stored-types.ts";
import {
  resolveVirtualModels,
  routedTargets,
  sharedGroups,
  type VirtualModelNode,
} from "./virtual-models.ts";

/** Default of `streamKeepAlive`, in milliseconds. */
const DEFAULT_KEEP_ALIVE = 15_000;

/** Resolves `ai`; returns `undefined` if a mistake was reported. */
export function resolveAi(
  { config, policies, origin }: BackendUse<AiConfig>,
  context: BackendResolveContext,
): AiNode | undefined {
  const ai = policies?.ai;
  const own = resolveRoutes(ai);
  const all = config.models === undefined ? own : withSharedPaths(own);
  const routes = servesPathApis(config, policies) ? all : all.filter(isNoPathApi);
  const types = new Set(routes.map(({ type }) => type));
  const { models: served, internal = [] } = config;
  const conditions = (config.conditions ?? []).map(
    (each) => each && resolveModelConditions(each, context),
  );
  reportUnreached(config, context.diagnostics);
  const virtualModels = resolveVirtualModels(config, context);
  const shared = sharedGroups(config);
  // A model of the `llm` section only gets requests of types that it supports; on other routes, every provider must
  // support all types.
  const servesAll = served === undefined;
  const hasOne = (group: AiConfig["groups"][number], index: number): boolean =>
    (servesAll ? config.groups.flat() : group).length === 1 && !shared.has(index);
  const sharedHealth = new Set(
    config.groups.flatMap((group, index) =>
      hasOne(group, index) ? [] : group.flatMap(({ policies: own }) => healthPlace(own)),
    ),
  );
  const groups = config.groups.map((group, index) => {
    const isOne = hasOne(group, index);
    const passes = servesAll || config.passed?.includes(index) === true;
    const place: ProviderPlace = {
      ...{ inherited: policies, servesAll, isOne, sharedHealth },
      types: passes ? types : new Set([...types].filter((type) => type !== "Passthrough")),
      served: served?.[index],
    };
    return group.flatMap((provider) => resolveProvider(provider, place, context) ?? []);
  });
  checkNames(config, context.diagnostics);
  const passing = groups.filter((_, index) => servesAll || config.passed?.includes(index) === true);
  checkStoredTypes(routes, groups.flat(), passing.flat(), origin, context);
  if (groups.some((group, index) => group.length < (config.groups[index]?.length ?? 0))) {
    return undefined;
  }
  const isShared =
    groups.some((group) => group.length > 1) ||
    config.virtualModels?.some(({ routing }) => routing.kind !== "conditional") === true;
  reportIdleCaching(groups.flat(), isShared, context.diagnostics);
  reportIdleDrop(groups.flat(), context.diagnostics);
  checkProviders(config.groups.flat(), groups.flat(), types, context.diagnostics);
  checkRequestFields(groups.flat(), types, context.diagnostics);
  checkModelFields(groups.flat(), context.diagnostics);
  if (virtualModels === undefined) return undefined;
  if (conditions.some((each, group) => each === undefined && config.conditions?.[group])) {
    return undefined;
  }
  const models =
    served === undefined
      ? listedModels(groups.flat())
      : namedModels(served, internal, virtualModels, groups).map((model) =>
          ruledModel(model, { served, virtualModels, conditions }),
        );
  if (served === undefined && types.has("Models") && models.length === 0) {
    context.diagnostics.report("no-model-known", ai?.routes?.origin ?? origin, {});
  }
  if (served === undefined && types.has("Usage") && context.usage === undefined) {
    context.diagnostics.report("usage-not-stored", ai?.routes?.origin ?? origin, {});
    return undefined;
  }
  reportUnserved(config, groups.flat(), context.diagnostics);
  const isServed = (type: RouteType) => {
    if (type === "Models") return models.length > 0;
    if (type === "Usage") return context.usage?.isForCallers === true;
    return OWN_TYPES.has(type) || serves(type, groups.flat());
  };
  const kept = served === undefined ? routes : routes.filter(({ type }) => isServed(type));
  return {
    kind: "ai",
    routes: kept,
    batched: batchedByType(kept),
    ownsResponses: ownsResponses(groups.flat(), context),
    groups,
    served,
    conditions,
    passed: config.passed ?? [],
    internal,
    virtualModels,
    namesProvider: ai?.providerHeader?.value ?? true,
    streamKeepAlive: ai?.streamKeepAlive?.value ?? DEFAULT_KEEP_ALIVE,
    models,
    origin,
  };
}

/**
 * Whether the paths of the APIs of Google and Bedrock are served. The `llm` section has them by default, but not next to
 * policies that act on requests of the other APIs only: those would not hold there.
 */
function servesPathApis(
  { groups, models }: AiConfig,
  policies: BackendPolicies | undefined,
): boolean {
  const all = [policies, ...groups.flat().map((provider) => provider.policies)];
  const fields = [
    ...(["defaults", "overrides", "transformations", "finalTransformations"] as const),
  ];
  const isBound = fields.some((field) => all.some((each) => each?.ai?.[field] !== undefined));
  return models === undefined || !isBound;
}

function isNoPathApi({ type }: AiNode["routes"][number]): boolean {
  return type !== "GenerateContent" && type !== "ContentTokenCount" && type !== "Converse";
}

function healthPlace(policies: BackendPolicies | undefined): readonly string[] {
  return policies?.health === undefined ? [] : [placeKey(policies.health.origin)];
}

/** Returns the known models: fixed ones, and aliases without `*`. Other models of a provider are unknown. */
function listedModels(providers: readonly AiProviderNode[]): readonly ModelNode[] {
  const owners = new Map<string, string>();
  for (const { model, policies, system } of providers) {
    const aliases = Object.keys(policies?.modelAliases?.value ?? {});
    const ids = model === undefined ? aliases.filter((alias) => !alias.includes("*")) : [model];
    for (const id of ids) if (!owners.has(id)) owners.set(id, system);
  }
  return [...owners].map(([id, owner]) => ({ id, owner }));
}

/**
 * Reports `promptCaching` that changes nothing: breakpoints are only set in requests to Anthropic and Bedrock, and affinity
 * requires several providers.
 */
function reportIdleCaching(
  providers: readonly AiProviderNode[],
  isShared: boolean,
  diagnostics: Diagnostics,
): void {
  const all = providers.flatMap(({ policies }) => policies?.promptCaching ?? []);
  const places = Map.groupBy(all, ({ origin }) => placeKey(origin));
  for (const [place, [caching]] of places) {
    if (caching === undefined) continue;
    const own = providers.filter(
      ({ policies }) =>
        policies?.promptCaching !== undefined && placeKey(policies.promptCaching.origin) === place,
    );
    const { affinity } = caching.value;
    if (affinity !== "none" && !isShared) {
      const params = { field: "affinity", actsOn: "requests that several providers share" };
      const at = keyPlace(childOf(caching.origin, "affinity"));
      diagnostics.report("misplaced-field", at, { ...params, found: undefined });
    } else if (affinity === "none" && !own.some(({ endpoints }) => takesBreakpoints(endpoints))) {
      const params = { field: "promptCaching", actsOn: "models of Anthropic and Bedrock" };
      diagnostics.report("misplaced-field", keyPlace(caching.origin), {
        ...params,
        found: undefined,
      });
    }
  }
}

/** Whether some requests are sent in a format with cache breakpoints. */
function takesBreakpoints(endpoints: AiProviderNode["endpoints"]): boolean {
  return Object.values(endpoints).some(({ format, branches = [] }) =>
    [format, ...branches.map((branch) => branch.format)].some(
      (each) => each === "messages" || each === "converse",
    ),
  );
}

/** Reports `unsupported: drop` of providers that use the formats of all clients: their requests are not translated. */
function reportIdleDrop(providers: readonly AiProviderNode[], diagnostics: Diagnostics): void {
  for (const { policies, endpoints } of providers) {
    if (policies?.unsupported?.value !== "drop" || isTranslated(endpoints)) continue;
    const params = { field: "unsupported", actsOn: "requests that are translated" };
    diagnostics.report("idle-model-field", keyPlace(policies.unsupported.origin), params);
    return;
  }
}

/** Whether some requests for completions are translated. */
function isTranslated(endpoints: AiProviderNode["endpoints"]): boolean {
  return (["Completions", "Messages", "Responses", "GenerateContent", "Converse"] as const).some(
    (type) => {
      const own = type.charAt(0).toLowerCase() + type.slice(1);
      const { format = own, branches = [] } = endpoints[type] ?? {};
      return [format, ...branches.map((branch) => branch.format)].some((each) => each !== own);
    },
  );
}

/** Returns the models of the `llm` section that clients can request, without patterns. */
function namedModels(
  names: readonly string[],
  internal: readonly string[],
  virtualModels: readonly VirtualModelNode[],
  groups: AiNode["groups"],
): readonly ModelNode[] {
  const named = [...new Set(names)]
    .map((id) => ({ id, group: names.indexOf(id) }))
    .filter(({ id }) => !internal.includes(id));
  const virtual = virtualModels.map(({ name: id, routing }) => {
    return { id, group: routedTargets(routing)[0]?.group ?? -1 };
  });
  return [...named, ...virtual].flatMap(({ id, group }) => {
    const owner = groups[group]?.[0]?.system;
    return owner === undefined || id.includes("*") ? [] : [{ id, owner }];
  });
}

/**
 * Adds the rules of a model's entries, if each of them has some. The entries of a virtual model are those of all models
 * that it leads to.
 */
export function ruledModel(
  model: ModelNode,
  {
    served,
    virtualModels,
    conditions,
  }: Pick<AiNode, "virtualModels" | "conditions"> & { readonly served: readonly string[] },
): ModelNode {
  const virtual = virtualModels.find(({ name }) => name === model.id);
  const names =
    virtual === undefined
      ? [model.id]
      : routedTargets(virtual.routing).map(({ group }) => served[group]);
  const ruledBy = served.flatMap((name, group) => (names.includes(name) ? [group] : []));
  const isRuled = (group: number): boolean => (conditions[group]?.rules.length ?? 0) > 0;
  return ruledBy.length > 0 && ruledBy.every(isRuled) ? { ...model, ruledBy } : model;
}

/** Reports APIs that no provider has. */
function reportUnserved(
  { apis = [] }: AiConfig,
  providers: readonly AiProviderNode[],
  diagnostics: Diagnostics,
): void {
  for (const api of apis) {
    const { name, model, origin } = api;
    const own = model === undefined ? providers : providers.filter((each) => each.name === model);
    if (apiTypes(api).some((type) => serves(type, own))) continue;
    diagnostics.report("unserved-api", origin, {
      api: name,
      ...(model !== undefined && { model }),
    });
  }
}

/** Reports entries of a model behind one that serves all requests for it. */
function reportUnreached(
  { models = [], groups, conditions = [] }: AiConfig,
  diagnostics: Diagnostics,
): void {
  for (const [index, name] of models.entries()) {
    const first = models.findIndex((each, at) => each === name && conditions[at] === undefined);
    if (conditions.length === 0 || first === -1 || first >= index) continue;
    const [at, before] = [groups[index]?.[0]?.origin, groups[first]?.[0]?.origin];
    if (at === undefined || before === undefined) continue;
    const related = [{ at: before, label: "the one that serves all requests" }];
    diagnostics.report("unreached-model", at, { name }, related);
  }
}

function serves(type: RouteType, providers: readonly AiProviderNode[]): boolean {
  return providers.some(({ endpoints }) => endpoints[type] !== undefined);
}

/** Returns the type of traffic by suffix, longest first; by default all paths are chat completions. */
export function resolveRoutes(policies: LlmPolicies | undefined): AiNode["routes"] {
  const all = Object.entries(policies?.routes?.value ?? { "*": "Completions" as const });
  return all
    .map(([suffix, type]) => ({ suffix: suffix === "*" ? "" : suffix, type }))
    .toSorted((a, b) => b.suffix.length - a.suffix.length || (a.suffix < b.suffix ? -1 : 1));
}

function checkNames({ groups }: AiConfig, diagnostics: Diagnostics): void {
  const seen = new Map<string, Origin>();
  for (const { name, origin } of groups.flat()) {
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, origin);
      continue;
    }
    const related = [{ at: first, label: "the first one" }];
    diagnostics.report("duplicate-provider", childOf(origin, "name"), { name }, related);
  }
}
