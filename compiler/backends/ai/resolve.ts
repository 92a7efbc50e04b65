import type { Dialect } from "../../../runtime/llm/chat/formats.ts";
import type { KeyHeader } from "../../../runtime/llm/providers/provider.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  type BackendPolicies,
  type HealthConfig,
  mergeBackendPolicies,
} from "../../model/backend-policies.ts";
import type { AwsScope } from "../../model/cloud-credentials.ts";
import type { BackendConnection } from "../../model/connections.ts";
import { hostUrl } from "../../model/host-url.ts";
import { camelCase } from "../../model/identifiers.ts";
import type { LlmPolicies, ProviderPolicies, RouteType } from "../../model/llm-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import type { BackendUse } from "../backend.ts";
import { AMBIENT_AWS, AMBIENT_GCP } from "../parts/ambient-credentials.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import {
  backendKey,
  type ConnectionContext,
  resolveConnection,
  secureUrl,
} from "../parts/connection.ts";
import { type HealthNode, resolveHealth } from "../parts/health.ts";
import { type NamedNode, resolveExpressions } from "../parts/named-expressions.ts";
import type { AiConfig, ProviderConfig } from "./ai-config.ts";
import { checkProviders } from "./check-providers.ts";
import { type PromptGuardNode, resolvePromptGuard } from "./guards.ts";
import { type ProviderKind, type ProviderOptions, providerOf } from "./providers/index.ts";
import type { LlmCredentialForm, LlmEndpoint } from "./providers/provider.ts";
import { resolveVirtualModels, sharedGroups, type VirtualModelNode } from "./virtual-models.ts";

/** The models behind a route. */
export interface AiNode {
  readonly kind: "ai";
  /** What the ends of paths carry, the longest one first; the empty one is every path. */
  readonly routes: readonly { readonly suffix: string; readonly type: RouteType }[];
  readonly groups: readonly (readonly AiProviderNode[])[];
  /** Responses name the provider. */
  readonly namesProvider: boolean;
  /** Milliseconds of silence after which a client of a stream gets a sign of life. */
  readonly streamKeepAlive: number;
  /** The model that each group alone serves, by the name that clients use; undefined: all serve any. */
  readonly served: readonly string[] | undefined;
  /** Models that stand for others of them. */
  readonly virtualModels: readonly VirtualModelNode[];
  /** The models that clients can be told of. */
  readonly models: readonly ModelNode[];
  readonly origin: Origin;
}

/** A model by the name that clients ask for it. */
export interface ModelNode {
  readonly id: string;
  /** `gen_ai.provider.name` of whom it is asked. */
  readonly owner: string;
}

/** One provider of a route, complete. */
export interface AiProviderNode {
  readonly name: string;
  /** The name as an identifier, which other providers may have too. */
  readonly id: string;
  readonly kind: ProviderKind;
  readonly system: string;
  /** Undefined: the one that the request names. */
  readonly model: string | undefined;
  /** The function that gives models the names that the provider's paths have; undefined: they have them. */
  readonly modelName: "vertexModel" | undefined;
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly headers: readonly string[];
  /** The header of its own in which the key goes; absent: `Authorization`, which the connection has. */
  readonly key: { readonly header: KeyHeader; readonly value: Text | MountedFile } | undefined;
  /** The header in which a client's own key goes on to it; undefined: the gateway has its own. */
  readonly clientKey: KeyHeader | undefined;
  /** By route type, as far as it serves it. */
  readonly endpoints: { readonly [Type in RouteType]?: LlmEndpoint };
  /** The path of the configuration in the place of every other one; undefined: none. */
  readonly path: string | undefined;
  /** What its requests say beside those of other providers of its format. */
  readonly dialect: Pick<Dialect, "guardrail" | "caching">;
  /** About as many tokens as a request has are taken from limits before it goes out. */
  readonly expectsTokens: boolean;
  /** It is the provider's own server, of which the newest ways are known. */
  readonly isOwnServer: boolean;
  readonly policies: ProviderPolicies | undefined;
  /** Fields of requests that expressions make; undefined: none. */
  readonly transforms: TransformsNode | undefined;
  /** What guards its requests and responses; undefined: nothing does. */
  readonly guard: PromptGuardNode | undefined;
  /** When it is left alone; undefined: there is no other to ask. */
  readonly health: HealthNode | undefined;
  readonly origin: Origin;
}

/** Fields of requests and what expressions make of them. */
interface TransformsNode {
  readonly fields: readonly NamedNode[];
  readonly origin: Origin;
}

/** Milliseconds of silence that clients of streams bear unless the configuration says. */
const DEFAULT_KEEP_ALIVE = 15_000;

/** `ai`, complete; mistakes are reported. */
export function resolveAi(
  { config, policies, origin }: BackendUse<AiConfig>,
  context: BackendResolveContext,
): AiNode | undefined {
  const ai = policies?.ai;
  const routes = resolveRoutes(ai);
  const types = new Set(routes.map(({ type }) => type));
  const served = config.models;
  const virtualModels = resolveVirtualModels(config, context.diagnostics);
  const shared = sharedGroups(config);
  const groups = config.groups.map((group, index) => {
    // A model of the front door is asked for what it serves; behind other routes each provider serves everything.
    const servesAll = served === undefined;
    const isOne = (servesAll ? config.groups.flat() : group).length === 1 && !shared.has(index);
    const place: ProviderPlace = { inherited: policies, types, servesAll, isOne };
    return group.flatMap((provider) => resolveProvider(provider, place, context) ?? []);
  });
  checkNames(config, context.diagnostics);
  if (groups.some((group, index) => group.length < (config.groups[index]?.length ?? 0))) {
    return undefined;
  }
  reportIdleCaching(config, ai, context.diagnostics);
  checkProviders(config.groups.flat(), groups.flat(), types, context.diagnostics);
  if (virtualModels === undefined) return undefined;
  const models =
    served === undefined ? listedModels(groups.flat()) : namedModels(served, virtualModels, groups);
  if (served === undefined && types.has("Models") && models.length === 0) {
    context.diagnostics.report("no-model-known", ai?.routes?.origin ?? origin, {});
  }
  const isServed = (type: RouteType) =>
    type === "Models" ? models.length > 0 : type === "TokenCount" || serves(type, groups.flat());
  return {
    kind: "ai",
    routes: served === undefined ? routes : routes.filter(({ type }) => isServed(type)),
    groups,
    served,
    virtualModels,
    namesProvider: ai?.providerHeader?.value ?? true,
    streamKeepAlive: ai?.streamKeepAlive?.value ?? DEFAULT_KEEP_ALIVE,
    models,
    origin,
  };
}

/** Fixed models, and aliases that are one name; what a provider has beside them is not known. */
function listedModels(providers: readonly AiProviderNode[]): readonly ModelNode[] {
  const owners = new Map<string, string>();
  for (const { model, policies, system } of providers) {
    const aliases = Object.keys(policies?.modelAliases?.value ?? {});
    const ids = model === undefined ? aliases.filter((alias) => !alias.includes("*")) : [model];
    for (const id of ids) if (!owners.has(id)) owners.set(id, system);
  }
  return [...owners].map(([id, owner]) => ({ id, owner }));
}

/** Marks for the provider's cache are set where requests are written for Bedrock. */
function reportIdleCaching(
  { groups }: AiConfig,
  policies: LlmPolicies | undefined,
  diagnostics: Diagnostics,
): void {
  const cachesPrompts = groups.flat().some(({ options }) => awsScopeOf(options) !== undefined);
  const own = groups.flat().map((provider) => provider.policies?.ai?.promptCaching);
  for (const caching of [policies?.promptCaching, ...own]) {
    if (caching === undefined || cachesPrompts) continue;
    const params = { field: "promptCaching", actsOn: "models of Bedrock", found: undefined };
    diagnostics.report("misplaced-field", keyPlace(caching.origin), params);
    return;
  }
}

/** The models of the front door, by the names that clients use, as far as they are whole. */
function namedModels(
  names: readonly string[],
  virtualModels: readonly VirtualModelNode[],
  groups: AiNode["groups"],
): readonly ModelNode[] {
  const named = names.map((id, group) => ({ id, group }));
  const virtual = virtualModels.map(({ name: id, routing }) => {
    const targets = routing.kind === "failover" ? routing.tiers.flat() : routing.targets;
    return { id, group: targets[0]?.group ?? -1 };
  });
  return [...named, ...virtual].flatMap(({ id, group }) => {
    const owner = groups[group]?.[0]?.system;
    return owner === undefined || id.includes("*") ? [] : [{ id, owner }];
  });
}

function serves(type: RouteType, providers: readonly AiProviderNode[]): boolean {
  return providers.some(({ endpoints }) => endpoints[type] !== undefined);
}

/** What paths carry, the longest end first; without `routes` everything is chat completions. */
export function resolveRoutes(policies: LlmPolicies | undefined): AiNode["routes"] {
  const all = Object.entries(policies?.routes?.value ?? { "*": "Completions" as const });
  return all
    .map(([suffix, type]) => ({ suffix: suffix === "*" ? "" : suffix, type }))
    .toSorted((a, b) => b.suffix.length - a.suffix.length || (a.suffix < b.suffix ? -1 : 1));
}

/** What a provider is to serve. */
interface ProviderPlace {
  /** What the route and the backend say. */
  readonly inherited: BackendPolicies | undefined;
  readonly types: ReadonlySet<RouteType>;
  /** One that cannot serve a type is a mistake. */
  readonly servesAll: boolean;
  /** There is no other provider to ask instead. */
  readonly isOne: boolean;
}

function resolveProvider(
  config: ProviderConfig,
  place: ProviderPlace,
  context: BackendResolveContext,
): AiProviderNode | undefined {
  const { inherited, isOne } = place;
  const { name, options, server, port, path, origin } = config;
  const unit = providerOf(options.kind);
  const merged = mergeBackendPolicies(inherited, config.policies);
  const { health } = merged;
  const aws = awsScopeOf(options);
  const ambient = aws === undefined ? unit.isGoogleCloud && AMBIENT_GCP : AMBIENT_AWS;
  const auth = merged.auth ?? (ambient && { ...ambient, origin });
  const resolved = resolveConnection({ ...merged, ...(auth && { auth }) }, context, aws);
  const own = endpointsOf(config, place, context.diagnostics);
  const endpoints = own && path !== undefined ? withPath(own, path) : own;
  const header = keyHeaderOf(unit.credential, Object.values(endpoints ?? {}));
  const isHeader = header !== "authorization";
  const { authorization: _, ...withoutAuthorization } = resolved;
  const connection = isHeader ? withoutAuthorization : resolved;
  const key = backendKey(auth, context);
  const url =
    server === undefined
      ? ownUrl(options, port)
      : hostUrl(server, childOf(origin, "hostOverride"), context.diagnostics);
  reportShared(config, inherited, context.diagnostics);
  if (server !== undefined) reportRepeatedPath(config, endpoints, url, context.diagnostics);
  if (merged.auth?.kind === "aws" && aws === undefined) {
    const params = { field: "aws", actsOn: "requests to services of AWS", found: undefined };
    context.diagnostics.report("misplaced-field", keyPlace(merged.auth.origin), params);
  }
  const { promptGuard, ...policies } = merged.ai ?? { origin };
  const guard = promptGuard && resolvePromptGuard(promptGuard, place.types, context);
  if (url === undefined || endpoints === undefined) return undefined;
  if (promptGuard !== undefined && guard === undefined) return undefined;
  const transforms = resolveTransforms(merged.ai, context);
  if (merged.ai?.transformations !== undefined && transforms === undefined) return undefined;
  return {
    name,
    id: camelCase(name),
    kind: options.kind,
    system: unit.system,
    model: modelOf(options),
    url: secureUrl(url, connection),
    connection,
    headers: headersOf(options),
    key: isHeader && key !== undefined ? { header, value: key } : undefined,
    clientKey: key === undefined && resolved.credentials === undefined ? header : undefined,
    modelName: unit.modelName,
    dialect: dialectOf(options, merged.ai),
    endpoints,
    path,
    expectsTokens: config.tokenize !== undefined,
    isOwnServer: server === undefined,
    policies: merged.ai && policies,
    transforms,
    guard,
    health: isOne ? reportHealth(health, context) : providerHealth(health, context),
    origin,
  };
}

/** Undefined: there are none, or one is wrong (reported). */
function resolveTransforms(
  policies: LlmPolicies | undefined,
  context: BackendResolveContext,
): TransformsNode | undefined {
  if (policies?.transformations === undefined) return undefined;
  const { value, origin } = policies.transformations;
  const fields = resolveExpressions(value, "llm", context);
  return fields && { fields, origin };
}

/** The path of a server's URL stands before those of the API: where both begin alike, one is too many. */
function reportRepeatedPath(
  { origin }: ProviderConfig,
  endpoints: AiProviderNode["endpoints"] | undefined,
  url: Text | undefined,
  diagnostics: Diagnostics,
): void {
  if (typeof url !== "string") return;
  const base = new URL(url).pathname.replace(/\/$/, "");
  const paths = Object.values(endpoints ?? {}).map(({ path }) => path);
  const repeated = base === "" ? undefined : paths.find((path) => path.startsWith(`${base}/`));
  if (repeated === undefined) return;
  const params = { base, path: repeated };
  diagnostics.report("repeated-base-path", childOf(origin, "hostOverride"), params);
}

/** When one of several providers is left alone: nothing but the responses to its calls says how it does. */
function providerHealth(
  health: HealthConfig | undefined,
  { diagnostics }: ConnectionContext,
): HealthNode {
  for (const key of ["active", "panicThreshold"] as const) {
    if (health?.[key] === undefined) continue;
    const params = {
      field: `"${key}"`,
      actsOn: "requests that backends share",
      found: "requests to models",
    };
    diagnostics.report("misplaced-field", keyPlace(childOf(health.origin, key)), params);
  }
  return resolveHealth(health, diagnostics);
}

/** Where there is nobody else to ask, nobody is left alone. */
function reportHealth(
  health: HealthConfig | undefined,
  { diagnostics }: ConnectionContext,
): undefined {
  if (health === undefined) return;
  const params = { field: '"health"', actsOn: "backends of several providers", found: "one" };
  diagnostics.report("misplaced-field", keyPlace(health.origin), params);
}

/** Where the key goes; whether it depends on the path is known from those that the route has. */
function keyHeaderOf(form: LlmCredentialForm, endpoints: readonly LlmEndpoint[]): KeyHeader {
  if (form.kind === "bearer") return "authorization";
  if (form.kind === "header") return form.header;
  const { prefix, there, elsewhere } = form.header;
  const isThere = endpoints.map(({ path }) => path.startsWith(prefix));
  if (isThere.every((each) => each)) return there;
  return isThere.some((each) => each) ? form.header : elsewhere;
}

function awsScopeOf<Kind extends ProviderKind>({
  kind,
  value,
}: ProviderOptions<Kind>): AwsScope | undefined {
  return providerOf<Kind>(kind).aws?.(value);
}

function dialectOf<Kind extends ProviderKind>(
  { kind, value }: ProviderOptions<Kind>,
  policies: LlmPolicies | undefined,
): AiProviderNode["dialect"] {
  const guardrail = providerOf<Kind>(kind).guardrail?.(value);
  const caching = policies?.promptCaching?.value;
  return { ...(guardrail && { guardrail }), ...(caching && { caching }) };
}

function headersOf<Kind extends ProviderKind>({
  kind,
  value,
}: ProviderOptions<Kind>): readonly string[] {
  return providerOf<Kind>(kind).headers?.(value) ?? [];
}

function modelOf<Kind extends ProviderKind>({
  kind,
  value,
}: ProviderOptions<Kind>): string | undefined {
  const { model } = providerOf<Kind>(kind);
  return model === undefined ? value.model : model(value);
}

function ownUrl<Kind extends ProviderKind>(
  { kind, value }: ProviderOptions<Kind>,
  port: number | undefined,
): string {
  const url = providerOf<Kind>(kind).url(value);
  return port === undefined ? url : `${url}:${port}`;
}

/** How the provider serves each route type of the route; what it does not serve is reported. */
function endpointsOf(
  { options, name, origin }: ProviderConfig,
  { types, servesAll }: ProviderPlace,
  diagnostics: Diagnostics,
): AiProviderNode["endpoints"] | undefined {
  const all = [...types].map((type) => [type, endpointOf(type, options)] as const);
  const found = all.filter(([, endpoint]) => endpoint !== undefined);
  const isMissing = ([type, endpoint]: (typeof all)[number]): boolean =>
    endpoint === undefined && !ownTypes.has(type);
  const missing = servesAll ? all.filter(isMissing) : [];
  for (const [type] of missing) {
    diagnostics.report("unserved-route-type", origin, { type, provider: name });
  }
  return missing.length === 0 ? Object.fromEntries(found) : undefined;
}

/**
 * What needs no endpoint of a provider: models are those of the configuration, tokens are counted by the gateway where
 * nobody else does, and what passes has the path of the client.
 */
const ownTypes: ReadonlySet<RouteType> = new Set(["Models", "TokenCount", "Passthrough"]);

function endpointOf<Kind extends ProviderKind>(
  type: RouteType,
  { kind, value }: ProviderOptions<Kind>,
): LlmEndpoint | undefined {
  return providerOf<Kind>(kind).endpoint(type, value);
}

/** Reports what a provider says that holds for all of a route. */
function reportShared(
  { name, policies }: ProviderConfig,
  inherited: BackendPolicies | undefined,
  diagnostics: Diagnostics,
): void {
  for (const field of ["routes", "providerHeader", "streamKeepAlive"] as const) {
    const own = policies?.ai?.[field]?.origin;
    if (own === undefined || isSamePlace(own, inherited?.ai?.[field]?.origin)) continue;
    diagnostics.report("routes-of-provider", keyPlace(own), { name, field });
  }
}

/** In manifests a provider's policies are all that hold for it, those of its backend too. */
function isSamePlace(a: Origin, b: Origin | undefined): boolean {
  const steps = (origin: Origin) => JSON.stringify([origin.file, origin.document, origin.path]);
  return b !== undefined && steps(a) === steps(b);
}

/** The path of the configuration in the place of the provider's own. */
function withPath(
  endpoints: AiProviderNode["endpoints"],
  path: string,
): AiProviderNode["endpoints"] {
  return Object.fromEntries(
    Object.entries(endpoints).map(([type, { streamPath: _, branches, ...endpoint }]) => [
      type,
      {
        ...endpoint,
        path,
        ...(branches && {
          branches: branches.map(({ streamPath: __, ...branch }) => ({ ...branch, path })),
        }),
      },
    ]),
  );
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
