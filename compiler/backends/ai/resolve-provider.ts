import type { PromptCaching } from "../../../runtime/llm/chat/formats.ts";
import type { KeyHeader } from "../../../runtime/llm/providers/provider.ts";
import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
  placeKey,
} from "../../diagnostics/diagnostic.ts";
import {
  type BackendPolicies,
  type HealthConfig,
  mergeBackendPolicies,
} from "../../model/backend-policies.ts";
import type { AwsScope } from "../../model/cloud-credentials.ts";
import type { BackendConnection } from "../../model/connections.ts";
import { secureUrl } from "../../model/host-url.ts";
import { camelCase } from "../../model/identifiers.ts";
import { type LlmPolicies, type RouteType, SHARED_FIELDS } from "../../model/llm-policies.ts";
import type { ModelPrices } from "../../model/model-prices.ts";
import { resolvePicking } from "../inference-pool/resolve-picking.ts";
import { AMBIENT_AWS, AMBIENT_GCP } from "../parts/ambient-credentials.ts";
import { awsScopeOf } from "../parts/aws-scope.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import {
  backendKey,
  type ConnectionContext,
  resolveConnection,
  withAmbient,
} from "../parts/connection.ts";
import { type HealthNode, resolveHealth } from "../parts/health.ts";
import { resolveExpressions } from "../parts/named-expressions.ts";
import type { ProviderConfig } from "./ai-config.ts";
import type { AiProviderNode, TransformsNode } from "./ai-node.ts";
import { TYPES_ON_REQUEST } from "./door-apis.ts";
import { resolvePromptGuard } from "./guards.ts";
import { knownModel, knownModels, misspelledModel } from "./known-models.ts";
import { pricedVendors } from "./priced-vendors.ts";
import { resolveProviderServer } from "./provider-server.ts";
import { type ProviderKind, type ProviderOptions, providerOf } from "./providers/index.ts";
import type { LlmCredentialForm, LlmEndpoint } from "./providers/provider.ts";
import { resolveResponseCache } from "./response-cache.ts";

/** The context of a provider within its route. */
export interface ProviderPlace {
  /** Policies of the route and the backend. */
  readonly inherited: BackendPolicies | undefined;
  readonly types: ReadonlySet<RouteType>;
  /** Model that the provider serves exclusively, by the name that clients use; `undefined` if it serves any. */
  readonly served: string | undefined;
  /** Whether a provider that does not support a type is a mistake. */
  readonly servesAll: boolean;
  /** Whether there is no other provider to fall back to. */
  readonly isOne: boolean;
  /** Places of health settings that apply to other providers. */
  readonly sharedHealth: ReadonlySet<string>;
}

/** Resolves a provider; returns `undefined` if a mistake was reported. */
export function resolveProvider(
  config: ProviderConfig,
  place: ProviderPlace,
  context: BackendResolveContext,
): AiProviderNode | undefined {
  const { inherited, isOne } = place;
  const { name, options, server, path, origin } = config;
  const unit = providerOf(options.kind);
  const merged = mergeBackendPolicies(inherited, config.policies);
  const { health } = merged;
  const aws = providerAwsScope(options);
  const ambient = aws === undefined ? unit.isGoogleCloud && AMBIENT_GCP : AMBIENT_AWS;
  const auth = withAmbient(merged.auth, ambient || undefined, origin);
  const scope = aws ?? (server && awsScopeOf(server.address));
  const resolved = resolveConnection({ ...merged, ...(auth && { auth }) }, context, scope);
  const own = endpointsOf(config, place, context.diagnostics);
  const at = resolveProviderServer(config, own ?? {}, context.diagnostics);
  const header = keyHeaderOf(unit.credential, Object.values(at?.endpoints ?? {}));
  const isHeader = header !== "authorization";
  const { authorization: _, ...withoutAuthorization } = resolved;
  const connection = isHeader ? withoutAuthorization : resolved;
  const key = backendKey(auth, context);
  reportShared(config, inherited, context.diagnostics);
  if (merged.auth?.kind === "aws" && scope === undefined) {
    const params = { field: "aws", actsOn: "requests to services of AWS", found: undefined };
    context.diagnostics.report("misplaced-field", keyPlace(merged.auth.origin), params);
  }
  const { promptGuard, cache, ...policies } = merged.ai ?? { origin };
  const guard = promptGuard && resolvePromptGuard(promptGuard, place.types, context);
  const picking = config.picking && resolvePicking(config.picking, context);
  if (config.picking !== undefined && picking === undefined) return undefined;
  if (at === undefined || own === undefined) return undefined;
  if (promptGuard !== undefined && guard === undefined) return undefined;
  const cached = cache && resolveResponseCache(cache, place.types, context);
  if (cache !== undefined && cached === undefined) return undefined;
  const { transformations, finalTransformations } = merged.ai ?? {};
  const transforms = resolveTransforms(transformations, context);
  const finalTransforms = resolveTransforms(finalTransformations, context);
  if (transformations !== undefined && transforms === undefined) return undefined;
  if (finalTransformations !== undefined && finalTransforms === undefined) return undefined;
  if (cached !== undefined && finalTransforms !== undefined)
    context.diagnostics.report("cache-before-changes", cached.origin, {});
  return {
    name,
    id: camelCase(name),
    kind: options.kind,
    system: systemOf(options),
    ...pricesOf(config, place.served, context),
    traits: traitsOf(config, place.served, merged.ai, context),
    model: modelOf(options),
    url: secureUrl(at.url, connection),
    base: at.base,
    defaultPath: at.defaultPath,
    connection,
    picking,
    headers: headersOf(options),
    key: isHeader && key !== undefined ? { header, value: key } : undefined,
    clientKey: key === undefined && !hasOwnCredential(resolved) ? header : undefined,
    modelName: unit.modelName,
    dialect: dialectOf(options, merged.ai),
    endpoints: at.endpoints,
    path,
    expectsTokens: config.tokenize !== undefined,
    isOwnServer: server === undefined && unit.isCompatible !== true,
    policies: merged.ai && policies,
    transforms,
    finalTransforms,
    chatFields: chatFieldsOf(options),
    guard,
    cache: cached,
    health: isOne ? reportHealth(health, place, context) : providerHealth(health, context),
    origin,
  };
}

/** Whether requests carry a credential of the gateway that is not the provider's key. */
function hasOwnCredential({ credentials, sent, movedToken }: BackendConnection): boolean {
  return credentials !== undefined || sent !== undefined || movedToken !== undefined;
}

/** Resolves transformations; returns `undefined` if none is configured or one is invalid (reported). */
function resolveTransforms(
  configured: LlmPolicies["transformations"],
  context: BackendResolveContext,
): TransformsNode | undefined {
  if (configured === undefined) return undefined;
  const { value, origin } = configured;
  const fields = resolveExpressions(value, "llm", context);
  return fields && { fields, origin };
}

/** Resolves the ejection of one of several providers, which is based on the responses to its calls only. */
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

/** Reports health settings that have no effect, because there is no other provider to fall back to. */
function reportHealth(
  health: HealthConfig | undefined,
  { servesAll, sharedHealth }: ProviderPlace,
  { diagnostics }: ConnectionContext,
): undefined {
  if (health === undefined || sharedHealth.has(placeKey(health.origin))) return;
  if (servesAll) {
    const params = { field: '"health"', actsOn: "backends of several providers", found: "one" };
    diagnostics.report("misplaced-field", keyPlace(health.origin), params);
  } else {
    const actsOn = "models of `virtualModels` with `failover`, and names with several entries";
    diagnostics.report("idle-model-field", keyPlace(health.origin), { field: "health", actsOn });
  }
}

/** Returns the header for the key. If it depends on the path, the paths of all endpoints decide. */
function keyHeaderOf(form: LlmCredentialForm, endpoints: readonly LlmEndpoint[]): KeyHeader {
  if (form.kind === "bearer") return "authorization";
  if (form.kind === "header") return form.header;
  const { prefix, header, otherwise } = form.header;
  const isBelow = endpoints.map(({ path }) => path.includes(prefix));
  if (isBelow.every((each) => each)) return header;
  return isBelow.some((each) => each) ? form.header : otherwise;
}

/** Returns the AWS service of a provider; `undefined` if it is not on AWS. */
function providerAwsScope<Kind extends ProviderKind>({
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
  const { affinity: _, ...caching } = policies?.promptCaching?.value ?? {};
  return { ...(guardrail && { guardrail }), ...(isCaching(caching) && { caching }) };
}

function chatFieldsOf<Kind extends ProviderKind>({
  kind,
  value,
}: ProviderOptions<Kind>): AiProviderNode["chatFields"] {
  return providerOf<Kind>(kind).chatFields?.(value) ?? {};
}

function isCaching(caching: Partial<PromptCaching>): caching is PromptCaching {
  return caching.minTokens !== undefined;
}

/** Returns the traits of the models that the configuration names; reports names that are retired or misspelled. */
function traitsOf(
  { options, optionsOrigin }: ProviderConfig,
  served: string | undefined,
  policies: LlmPolicies | undefined,
  { modelPrices, diagnostics }: BackendResolveContext,
): AiProviderNode["traits"] {
  const fixed = modelOf(options);
  const aliased = Object.values(policies?.modelAliases?.value ?? {});
  const names =
    fixed === undefined ? [...aliased, ...(served === undefined ? [] : [served])] : [fixed];
  if (fixed !== undefined) reportModel(fixed, childOf(optionsOrigin, "model"), diagnostics);
  const catalog = catalogOf(options, modelPrices);
  const found = names
    .flatMap((each) => rowsNamed(each, catalog, systemOf(options)))
    .flatMap((name) => {
      const own = catalog?.[name]?.traits;
      const known = knownModel(name)?.traits;
      const traits = own === undefined && known === undefined ? undefined : { ...known, ...own };
      return traits === undefined ? [] : [[name, traits] as const];
    });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Returns the models of the catalogues that a pattern names, at the vendors of a provider; any other name as it is. */
function rowsNamed(
  name: string,
  catalog: ModelPrices[string] | undefined,
  system: string,
): readonly string[] {
  if (!name.includes("*")) return [name];
  const part = name.replace("*", "");
  // A pattern for every model names none.
  if (part === "") return [];
  const vendors: readonly string[] = pricedVendors(system);
  const known = knownModels().filter((model) => vendors.includes(model.system));
  const all = new Set([...known.map((model) => model.name), ...Object.keys(catalog ?? {})]);
  const isNamed = (each: string): boolean =>
    name.endsWith("*") ? each.startsWith(part) : each.endsWith(part);
  return [...all].filter(isNamed);
}

function reportModel(model: string, origin: Origin, diagnostics: Diagnostics): void {
  const known = knownModel(model);
  if (known?.state === "retired") diagnostics.report("retired-model", origin, { model });
  const near = known === undefined ? misspelledModel(model) : undefined;
  if (near !== undefined) diagnostics.report("unlisted-model", origin, { model, near });
}

/** Returns the configured catalog of a provider; `undefined` if there is none. */
function catalogOf(
  options: ProviderOptions,
  modelPrices: BackendResolveContext["modelPrices"],
): ModelPrices[string] | undefined {
  const { kind, fileKeys } = providerOf(options.kind);
  const names = [systemOf(options), kind, ...fileKeys];
  return names.map((name) => modelPrices?.[name]).find((each) => each !== undefined);
}

/**
 * Returns the prices of a provider's models: those of the configuration, and of the catalogue of gwc. Reports models without a
 * price if the configuration has prices, or counts costs.
 */
function pricesOf(
  { options, optionsOrigin, origin }: ProviderConfig,
  served: string | undefined,
  { modelPrices, diagnostics, route }: BackendResolveContext,
): Pick<AiProviderNode, "prices" | "pricedVendors"> {
  const system = systemOf(options);
  const configured = Object.entries(catalogOf(options, modelPrices) ?? {}).flatMap(
    ([name, { rates, tiers }]) =>
      rates === undefined ? [] : [[name, { rates, ...(tiers && { tiers }) }] as const],
  );
  const own: NonNullable<AiProviderNode["prices"]> = Object.fromEntries(configured);
  const fixed = modelOf(options);
  const model = fixed ?? (served?.includes("*") === true ? undefined : served);
  const isCounted = modelPrices !== undefined || route.countsCosts === true;
  if (model === undefined) {
    const vendors = pricedVendors(system);
    const isUnknown = vendors.length === 0 && configured.length === 0;
    if (isUnknown && route.countsCosts === true)
      diagnostics.report("unpriced-model", origin, { model: undefined, system });
    return { prices: configured.length === 0 ? undefined : own, pricedVendors: vendors };
  }
  const price = own[model] ?? knownModel(model)?.price;
  if (price !== undefined) return { prices: { [model]: price }, pricedVendors: [] };
  const at = fixed === undefined ? origin : childOf(optionsOrigin, "model");
  if (isCounted) diagnostics.report("unpriced-model", at, { model, system });
  return { prices: undefined, pricedVendors: [] };
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

function systemOf<Kind extends ProviderKind>({ kind, value }: ProviderOptions<Kind>): string {
  const { system, ownSystem } = providerOf<Kind>(kind);
  return ownSystem?.(value) ?? system;
}

/** Returns the endpoint for each route type of the route; reports types that the provider does not support. */
function endpointsOf(
  { options, name, server, onRequest, origin }: ProviderConfig,
  { types, servesAll }: ProviderPlace,
  diagnostics: Diagnostics,
): AiProviderNode["endpoints"] | undefined {
  const isOwnServer = server === undefined;
  const isOffered = (type: RouteType) =>
    onRequest === undefined || !TYPES_ON_REQUEST.has(type) || onRequest.includes(type);
  const all = [...types].map((type) => {
    return [type, isOffered(type) ? endpointOf(type, options, isOwnServer) : undefined] as const;
  });
  const found = all.filter(([, endpoint]) => endpoint !== undefined);
  const isMissing = ([type, endpoint]: (typeof all)[number]): boolean =>
    endpoint === undefined && !OWN_TYPES.has(type);
  const missing = servesAll ? all.filter(isMissing) : [];
  for (const [type] of missing) {
    diagnostics.report("unserved-route-type", origin, { type, provider: name });
  }
  return missing.length === 0 ? Object.fromEntries(found) : undefined;
}

/**
 * Route types that need no endpoint of the provider: models come from the configuration, usage from the store, the gateway counts tokens
 * if the provider does not, and passed-through requests keep the client's path.
 */
export const OWN_TYPES: ReadonlySet<RouteType> = new Set([
  ...(["Models", "Usage", "TokenCount", "ContentTokenCount", "Passthrough"] as const),
]);

function endpointOf<Kind extends ProviderKind>(
  type: RouteType,
  { kind, value }: ProviderOptions<Kind>,
  isOwnServer: boolean,
): LlmEndpoint | undefined {
  return providerOf<Kind>(kind).endpoint(type, value, isOwnServer);
}

/** Reports settings of a provider that apply to the whole route. */
function reportShared(
  { name, policies }: ProviderConfig,
  inherited: BackendPolicies | undefined,
  diagnostics: Diagnostics,
): void {
  for (const field of SHARED_FIELDS) {
    const own = policies?.ai?.[field]?.origin;
    if (own === undefined || isSamePlace(own, inherited?.ai?.[field]?.origin)) continue;
    diagnostics.report("routes-of-provider", keyPlace(own), { name, field });
  }
}

/** Whether two policies are the same: in manifests, a provider's policies include those of its backend. */
function isSamePlace(a: Origin, b: Origin | undefined): boolean {
  const steps = (origin: Origin) => JSON.stringify([origin.file, origin.document, origin.path]);
  return b !== undefined && steps(a) === steps(b);
}
