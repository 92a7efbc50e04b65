import { isDeepStrictEqual } from "node:util";
import { placeKey } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestKind, ManifestOf } from "../../../manifests/manifests.ts";
import type { FieldValue } from "../policies/merge.ts";
import type { Lookups } from "./inventory.ts";

/** Data that lookups are made in. Reading a backend itself uses only the inventory. */
export interface LookedUp {
  readonly inventory: Lookups;
  readonly policyIndex?: Pick<ReadonlyMap<string, readonly FieldValue[]>, "get" | "values">;
  readonly models?: {
    readonly ofListeners: Pick<ReadonlyMap<string, readonly Manifest[]>, "get">;
    readonly ofRules: Pick<ReadonlyMap<string, readonly Manifest[]>, "get">;
  };
  readonly backends?: Pick<
    ReadonlyMap<ManifestOf<"GatewayBackend">, object>,
    "get" | "entries" | "values"
  >;
}

/** A lookup that can be repeated. */
type Lookup<Found> = (where: LookedUp) => Found;

/**
 * Records the lookups that a result depends on. The result is valid as long as all of them find the same, however much
 * else has changed.
 */
export class RecordedLookups {
  readonly #found = new Map<string, readonly [lookup: Lookup<unknown>, found: unknown]>();
  /** Set if the result depends on everything. */
  #isOfAll = false;

  /** Whether all lookups find the same there. */
  isCurrent(where: LookedUp): boolean {
    if (this.#isOfAll) return false;
    return [...this.#found.values()].every(([lookup, found]) => isSame(lookup(where), found));
  }

  /** Returns the same context, whose lookups are recorded. */
  of<Context extends LookedUp>(context: Context): Context {
    const { policyIndex, backends, models } = context;
    const find = <Found>(key: string, lookup: Lookup<Found>): Found => {
      const found = lookup(context);
      this.#found.set(key, [lookup, found]);
      return found;
    };
    const all = <Found>(found: Found): Found => {
      this.#isOfAll = true;
      return found;
    };
    const inventory: Lookups = {
      all: (kind) => find(`all ${kind}`, allOf(kind)),
      inNamespace: (kind, namespace) => find(`in ${kind} ${namespace}`, allIn(kind, namespace)),
      withLabels: (kind, namespace, labels) =>
        find(
          `with ${JSON.stringify([kind, namespace, labels])}`,
          labelled(kind, namespace, labels),
        ),
      find: (kind, namespace, name) =>
        find(`find ${kind} ${namespace}/${name}`, named(kind, namespace, name)),
      slicesOf: (service) => find(`slices ${service.namespace}/${service.name}`, slicesOf(service)),
      namespaceLabels: (name) => find(`labels ${name}`, labelsOf(name)),
      isPartial: (kind) => find(`partial ${kind}`, isPartial(kind)),
    };
    return {
      ...context,
      inventory,
      ...(policyIndex && {
        policyIndex: {
          get: (target: string) => find(`policies ${target}`, policiesOf(target)),
          values: () => all(policyIndex.values()),
        },
      }),
      ...(models && {
        models: {
          ...models,
          ofListeners: {
            get: (listener: string) => find(`listener ${listener}`, modelsOfListener(listener)),
          },
          ofRules: { get: (rule: string) => find(`rule ${rule}`, modelsOfRule(rule)) },
        },
      }),
      ...(backends && {
        backends: {
          get: (backend: ManifestOf<"GatewayBackend">) =>
            find(`backend ${backend.namespace}/${backend.name}`, backendOf(backend)),
          entries: () => all(backends.entries()),
          values: () => all(backends.values()),
        },
      }),
    };
  }
}

// These functions are outside of the class so that a recorded lookup keeps nothing alive but its parameters.

function allOf<Kind extends ManifestKind>(kind: Kind): Lookup<readonly ManifestOf<Kind>[]> {
  return ({ inventory }) => inventory.all(kind);
}

function allIn<Kind extends ManifestKind>(
  kind: Kind,
  namespace: string,
): Lookup<readonly ManifestOf<Kind>[]> {
  return ({ inventory }) => inventory.inNamespace(kind, namespace);
}

function labelled<Kind extends ManifestKind>(
  kind: Kind,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Lookup<readonly ManifestOf<Kind>[]> {
  return ({ inventory }) => inventory.withLabels(kind, namespace, labels);
}

function named<Kind extends ManifestKind>(
  kind: Kind,
  namespace: string,
  name: string,
): Lookup<ManifestOf<Kind> | undefined> {
  return ({ inventory }) => inventory.find(kind, namespace, name);
}

function slicesOf(service: ManifestOf<"Service">): Lookup<readonly ManifestOf<"EndpointSlice">[]> {
  return ({ inventory }) => inventory.slicesOf(service);
}

function labelsOf(namespace: string): Lookup<Readonly<Record<string, string>>> {
  return ({ inventory }) => inventory.namespaceLabels(namespace);
}

function isPartial(kind: ManifestKind): Lookup<boolean> {
  return ({ inventory }) => inventory.isPartial(kind);
}

function policiesOf(target: string): Lookup<readonly FieldValue[] | undefined> {
  return ({ policyIndex }) => policyIndex?.get(target);
}

function modelsOfListener(listener: string): Lookup<readonly Manifest[] | undefined> {
  return ({ models }) => models?.ofListeners.get(listener);
}

function modelsOfRule(rule: string): Lookup<readonly Manifest[] | undefined> {
  return ({ models }) => models?.ofRules.get(rule);
}

function backendOf(backend: ManifestOf<"GatewayBackend">): Lookup<object | undefined> {
  return ({ backends }) => backends?.get(backend);
}

/** Whether two lookups found the same. Unchanged manifests and backends are the same objects. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return (
      one.length === other.length && one.every((each, index) => isSameItem(each, other[index]))
    );
  return isLabels(one) && isLabels(other) && isDeepStrictEqual(one, other);
}

/** Values of policies are read in each compilation, from manifests that are the same. */
function isSameItem(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return (
    isFieldValue(one) &&
    isFieldValue(other) &&
    one.source === other.source &&
    one.field === other.field &&
    one.level === other.level &&
    one.isFinal === other.isFinal &&
    placeKey(one.origin) === placeKey(other.origin)
  );
}

function isFieldValue(found: unknown): found is FieldValue {
  return typeof found === "object" && found !== null && "source" in found && "level" in found;
}

function isLabels(found: unknown): boolean {
  if (typeof found !== "object" || found === null) return false;
  return Object.values(found).every((each) => typeof each === "string");
}
