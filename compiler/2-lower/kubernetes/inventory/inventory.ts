import type { Manifest, ManifestKind, ManifestOf } from "../../../manifests/manifests.ts";
import { selects } from "./selectors.ts";

/** Returns a placeholder for a resource that is not in the input, or `undefined`. */
export type AssumedResource = (
  kind: ManifestKind,
  namespace: string,
  name: string,
) => Manifest | undefined;

/** Lookups in the resources of an input. */
export type Lookups = Pick<
  Inventory,
  ("all" | "inNamespace" | "withLabels" | "find") | ("slicesOf" | "namespaceLabels" | "isPartial")
>;

/** The resources of an input by kind and name. */
export class Inventory {
  readonly #assumed: AssumedResource | undefined;
  readonly #byKind = new Map<ManifestKind, Map<string, Manifest>>();
  readonly #byNamespace = new Map<ManifestKind, ReadonlyMap<string, readonly Manifest[]>>();
  readonly #partial = new Map<ManifestKind, boolean>();
  readonly #byLabel = new Map<string, ReadonlyMap<string, readonly Manifest[]>>();
  #slices: ReadonlyMap<string, readonly ManifestOf<"EndpointSlice">[]> | undefined;

  /** Indexes the manifests; `assumed` provides placeholders for names that are not found. */
  constructor(manifests: readonly Manifest[], assumed?: AssumedResource) {
    this.#assumed = assumed;
    for (const manifest of manifests.toSorted(byName)) {
      const known = this.#byKind.get(manifest.kind) ?? new Map<string, Manifest>();
      const key = `${manifest.namespace}/${manifest.name}`;
      if (!known.has(key)) known.set(key, manifest);
      this.#byKind.set(manifest.kind, known);
    }
  }

  /** Returns the resources of a kind, sorted by namespace and name, because the order of documents has no meaning. */
  all<Kind extends ManifestKind>(kind: Kind): readonly ManifestOf<Kind>[] {
    // Safe: the map only has resources of a kind under that kind.
    return this.#all(kind) as unknown as readonly ManifestOf<Kind>[];
  }

  /** Returns the resources of a kind in a namespace, sorted by name. */
  inNamespace<Kind extends ManifestKind>(
    kind: Kind,
    namespace: string,
  ): readonly ManifestOf<Kind>[] {
    const known =
      this.#byNamespace.get(kind) ?? Map.groupBy(this.#all(kind), (each) => each.namespace);
    this.#byNamespace.set(kind, known);
    // See `all`.
    return (known.get(namespace) ?? []) as unknown as readonly ManifestOf<Kind>[];
  }

  /** Returns the resources of a kind in a namespace that have all of these labels, sorted by name. */
  withLabels<Kind extends ManifestKind>(
    kind: Kind,
    namespace: string,
    matchLabels: Readonly<Record<string, string>>,
  ): readonly ManifestOf<Kind>[] {
    // See `all`.
    const here = this.inNamespace(kind, namespace) as unknown as readonly Manifest[];
    const [first] = Object.entries(matchLabels);
    if (first === undefined) return this.inNamespace(kind, namespace);
    const [label, wanted] = first;
    const key = JSON.stringify([kind, namespace, label]);
    const known =
      this.#byLabel.get(key) ?? Map.groupBy(here, ({ labels }) => ownLabel(labels, label));
    this.#byLabel.set(key, known);
    const found = (known.get(wanted) ?? []).filter((each) => selects({ matchLabels }, each.labels));
    // See `all`.
    return found as unknown as readonly ManifestOf<Kind>[];
  }

  /** Returns a resource by name. */
  find<Kind extends ManifestKind>(
    kind: Kind,
    namespace: string,
    name: string,
  ): ManifestOf<Kind> | undefined {
    const found =
      this.#byKind.get(kind)?.get(`${namespace}/${name}`) ?? this.#assumed?.(kind, namespace, name);
    // See `all`.
    return found as unknown as ManifestOf<Kind> | undefined;
  }

  /** Whether a resource of a kind has parts with mistakes (reported). */
  isPartial(kind: ManifestKind): boolean {
    const known = this.#partial.get(kind) ?? this.#all(kind).some(({ isPartial }) => isPartial);
    this.#partial.set(kind, known);
    return known;
  }

  /** Returns the EndpointSlices of a Service, by name. */
  slicesOf({ namespace, name }: ManifestOf<"Service">): readonly ManifestOf<"EndpointSlice">[] {
    this.#slices ??= Map.groupBy(
      this.all("EndpointSlice"),
      (slice) => `${slice.namespace}/${slice.labels["kubernetes.io/service-name"]}`,
    );
    return this.#slices.get(`${namespace}/${name}`) ?? [];
  }

  /** Returns the labels of a namespace: those of its document, and the name label that every namespace has. */
  namespaceLabels(name: string): Readonly<Record<string, string>> {
    const { labels = {} } = this.find("Namespace", "", name) ?? {};
    return { ...labels, "kubernetes.io/metadata.name": name };
  }

  #all(kind: ManifestKind): readonly Manifest[] {
    return [...(this.#byKind.get(kind)?.values() ?? [])];
  }
}

function ownLabel(labels: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? "") : "";
}

/** Returns a resource's name in messages, as in `HTTPRoute "default/tools"`. */
export function resourceName({ kind, namespace, name }: Manifest): string {
  return `${kind} "${namespace === "" ? name : `${namespace}/${name}`}"`;
}

/** Compares resources by age, then by namespace and name: the order of precedence in conflicts (Gateway API). */
export function byAge(a: Manifest, b: Manifest): number {
  return compare(a.created || YOUNGEST, b.created || YOUNGEST) || byName(a, b);
}

/** Sorts after every RFC 3339 time. */
const YOUNGEST = "\uffff";

function byName(a: Manifest, b: Manifest): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
