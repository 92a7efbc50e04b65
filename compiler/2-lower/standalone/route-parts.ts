import type { BackendValue, NamedBackendValue } from "../../1-parse/standalone/backend.ts";
import { canonicalPolicies } from "../../1-parse/standalone/policy-aliases.ts";
import type { RouteValue } from "../../1-parse/standalone/route.ts";
import type { TcpRouteValue } from "../../1-parse/standalone/tcp-route.ts";
import type { BackendUse } from "../../backends/backend.ts";
import {
  type BackendConfig,
  type BackendKind,
  type BackendValues,
  backendOf,
  backends as kinds,
} from "../../backends/index.ts";
import { sectionsOf } from "../../backends/parts/connection-sections.ts";
import type { BackendPoliciesValue } from "../../backends/parts/policies-schema.ts";
import { readBackendPolicies, readOwnPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import { findBackend } from "../../config/named-backends.ts";
import type { RouteBackend } from "../../config/resources.ts";
import { backendTraffic, type SectionUse, weightSection } from "../../config/sections.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../model/backend-policies.ts";
import { backendOfService } from "../../model/server-address.ts";
import type { Traffic } from "../../model/traffic.ts";
import { type PolicyConfig, type PolicyKind, policyOf } from "../../policies/index.ts";
import { validated } from "../../schema/schema.ts";
import type { PoliciesByTarget } from "./attached.ts";
import type { Services } from "./services.ts";

/** Reads the policies of a route in request order, each in canonical form. */
export function readPolicies(
  given: Readonly<Record<string, unknown>>,
  origin: Origin,
  diagnostics: Diagnostics,
): PolicyConfig[] {
  return canonicalPolicies(given, origin, diagnostics).flatMap(
    ({ kind, value, origin: at }) =>
      guarded(at, diagnostics, () => readPolicy(kind, value, at)) ?? [],
  );
}

/** Reads the policies on requests and responses of a single backend. */
function readPoliciesOfBackend(
  given: Readonly<Record<string, unknown>> = {},
  origin: Origin,
  diagnostics: Diagnostics,
): readonly PolicyConfig[] {
  return canonicalPolicies(given, origin, diagnostics)
    .filter(({ kind }) => policyOf(kind).onBackend !== undefined)
    .flatMap(
      ({ kind, value, origin: at }) =>
        guarded(at, diagnostics, () => readPolicy(kind, value, at)) ?? [],
    );
}

/** Reads a policy in canonical form. */
export function readPolicy<Kind extends PolicyKind>(
  kind: Kind,
  value: unknown,
  origin: Origin,
): PolicyConfig<Kind> {
  const { schema, lowering } = policyOf(kind);
  return { kind, config: lowering.lower(validated(schema, value), origin), origin };
}

/**
 * Reads the backends of a route with the route's connection policies, which override those from the delegating
 * route (`inherited`). An item is `undefined` if its name does not exist (reported) or it was omitted because of
 * mistakes.
 */
export function readBackends(
  { policies, backends = [] }: Pick<RouteValue | TcpRouteValue, "policies" | "backends">,
  origin: Origin,
  trafficOf: (backends: readonly BackendConfig[]) => readonly Traffic[],
  context: FileContext,
  inherited?: BackendPolicies,
): readonly (RouteBackend | undefined)[] {
  const own = readBackendPolicies(policies, childOf(origin, "policies"));
  const ofRoute = inherited === undefined ? own : mergeBackendPolicies(inherited, own);
  return backends.map((backend, index) => {
    const at = childOf(origin, "backends", index);
    if (backend === undefined) return undefined;
    const read = readBackend(backend, ofRoute, at, context);
    if (read === undefined) return undefined;
    // The omitted part may be what a section acts on.
    const carried = isPartial(at, context) ? undefined : trafficOf([read]);
    meetOwn(read, backend.policies, at, carried, context);
    meetOwnPolicies(read, carried, context);
    const weight = weightSection(childOf(at, "weight"));
    // Backends that cannot share a route are reported elsewhere.
    if (backend.weight !== undefined)
      context.sections.meet(weight, backends.length > 1 ? undefined : carried);
    return read;
  });
}

/** Records which connection policies of a backend and its servers have an effect. */
function meetOwn<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  policies: BackendPoliciesValue | undefined,
  origin: Origin,
  carried: readonly Traffic[] | undefined,
  context: FileContext,
): void {
  const own = readOwnPolicies(policies, childOf(origin, "policies"));
  for (const section of sectionsOf(own ?? {})) context.sections.meet(section, carried);
  meetServers(backend, context);
}

/** Records which policies on a single backend's messages have an effect: they require forwarded requests. */
function meetOwnPolicies(
  { ownPolicies = [] }: RouteBackend,
  carried: readonly Traffic[] | undefined,
  { sections }: FileContext,
): void {
  for (const { kind, origin } of ownPolicies) {
    const { actsOn = [] } = policyOf(kind).onBackend ?? {};
    sections.meet({ name: String(origin.path.at(-1)), actsOn, origin }, carried);
  }
}

/** Records which connection policies of a backend's servers have an effect. */
export function meetServers<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  { sections }: Pick<FileContext, "sections">,
): void {
  for (const server of backendOf<Kind>(backend.kind).carries(backend)) {
    for (const section of sectionsOf(server.own ?? {})) sections.meet(section, server.traffic);
  }
}

/** Records which policies and connection policies of a route have an effect. */
export function meetRoute(
  { policies: given }: Pick<RouteValue | TcpRouteValue, "policies">,
  policies: readonly PolicyConfig[],
  origin: Origin,
  carried: readonly Traffic[] | undefined,
  { sections }: FileContext,
): void {
  meetPolicies(policies, carried, sections);
  const own = readBackendPolicies(given, childOf(origin, "policies"));
  for (const section of sectionsOf(own ?? {})) sections.meet(section, carried);
}

/** Records which policies have an effect. */
export function meetPolicies(
  policies: readonly PolicyConfig[],
  carried: readonly Traffic[] | undefined,
  sections: SectionUse,
): void {
  for (const { kind, origin } of policies) {
    const name = String(origin.path.at(-1));
    const { actsOn, isOptional = false } = policyOf(kind).traits;
    sections.meet({ name, actsOn, isOptional, origin }, carried);
  }
}

function readBackend(
  backend: BackendValue,
  ofRoute: BackendPolicies | undefined,
  origin: Origin,
  context: FileContext,
): RouteBackend | undefined {
  const { backends, services, diagnostics } = context;
  const place = childOf(origin, "policies");
  const own = readOwnPolicies(backend.policies, place);
  const ownPolicies = readPoliciesOfBackend(backend.policies, place, diagnostics);
  const weight = backend.weight === undefined ? {} : { weight: backend.weight };
  const { service } = backend;
  const picking = backend.policies?.inferenceRouting;
  const isServer = service !== undefined && picking === undefined;
  const name = isServer ? backendOfService(service) : backend.backend;
  if (name !== undefined) {
    const at = childOf(origin, isServer ? "service" : "backend");
    const found = findBackend(name, at, backends, diagnostics);
    if (found === undefined) return undefined;
    const inherited = mergeBackendPolicies(ofRoute, found.policies);
    const kinds = ownPolicies.map(({ kind }) => kind);
    const ofName = (found.ownPolicies ?? []).filter(({ kind }) => !kinds.includes(kind));
    return {
      ...found,
      policies: mergeBackendPolicies(inherited, own),
      ...weight,
      ownPolicies: [...ofName, ...ownPolicies],
    };
  }
  const use = { policies: mergeBackendPolicies(ofRoute, own), ...weight };
  if (service !== undefined && picking !== undefined) {
    const pool = services.pool(service, picking, origin);
    return pool && { ...use, ...pool, ownPolicies };
  }
  reportIdlePicker(backend, place, diagnostics);
  const read = guarded(origin, diagnostics, () =>
    kinds.flatMap(({ kind }) => readKind(kind, backend, use, childOf(origin, kind)) ?? []).at(0),
  );
  return read && { ...read, ownPolicies };
}

/** Reports `inferenceRouting` on a backend that is not a service: there is no server to choose. */
function reportIdlePicker(
  { policies }: Pick<BackendValue, "policies">,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (policies?.inferenceRouting === undefined) return;
  const params = { field: '"inferenceRouting"', actsOn: "services", found: undefined };
  diagnostics.report("misplaced-field", keyPlace(childOf(origin, "inferenceRouting")), params);
}

/** Reads a backend of a kind; returns `undefined` if it is of another kind. */
function readKind<Kind extends BackendKind>(
  kind: Kind,
  backend: { readonly [Each in BackendKind]?: BackendValues[Each] },
  use: Omit<BackendUse<unknown>, "config" | "origin">,
  origin: Origin,
): BackendConfig<Kind> | undefined {
  const value = backend[kind];
  if (value === undefined) return undefined;
  const { lower, withServerPolicies } = backendOf(kind);
  const config = lower(value, { origin, policies: readOwnPolicies });
  const policies = withServerPolicies?.(use.policies, config) ?? use.policies;
  return { ...use, ...(policies && { policies }), kind, config, origin };
}

/** Services of the whole file that its parts can use. */
export interface FileContext {
  /** The file's `backends`, by name. */
  readonly backends: ReadonlyMap<string, RouteBackend>;
  /** The file's `services`. */
  readonly services: Services;
  /** The file's `policies`. */
  readonly attached: PoliciesByTarget;
  /** Location of the file's root; in a manifest, that of the raw configuration. */
  readonly root: Origin;
  /** Locations of parts that were omitted because of mistakes. */
  readonly broken: readonly ConfigPath[];
  readonly sections: SectionUse;
  readonly diagnostics: Diagnostics;
}

/** Reads the file's `backends`, by name. */
export function readNamedBackends(
  values: readonly (NamedBackendValue | undefined)[],
  { origin, ...context }: Omit<FileContext, "backends"> & { readonly origin: Origin },
): ReadonlyMap<string, RouteBackend> {
  const found = new Map<string, RouteBackend>(context.services.backends);
  values.forEach((each, index) => {
    if (each === undefined) return;
    const at = childOf(origin, index);
    const { name } = each;
    const first = found.get(name);
    if (first !== undefined) {
      const related = [{ at: first.origin, label: "the first one" }];
      context.diagnostics.report("duplicate-backend", childOf(at, "name"), { name }, related);
    }
    const named = { ...context, backends: found };
    const isBackendPartial = isPartial(at, context);
    const backend = readBackend(each, undefined, at, named);
    if (backend === undefined) return;
    found.set(name, { ...backend, isPartial: isBackendPartial });
    const carried = isBackendPartial ? undefined : backendTraffic(backend);
    meetOwn(backend, each.policies, at, carried, named);
    meetOwnPolicies(backend, carried, named);
  });
  return found;
}
