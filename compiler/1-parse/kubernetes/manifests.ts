import { CachedByObject } from "../../cached-results.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostic,
  Diagnostics,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import type { Manifest, ManifestKind } from "../../manifests/manifests.ts";
import { cutBelow, isLargerThan, MAX_LEVELS, MAX_SIZE } from "../../model/nesting.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { scalarText } from "../../schema/config-values.ts";
import type { Schema } from "../../schema/schema.ts";
import { ReusableValidator, type Validator } from "../../schema/validate.ts";
import { hasAliases, withoutAliases } from "./aliases.ts";
import type { KindRow } from "./kinds.ts";
import { isKubernetes, type KubernetesObject, objectFields } from "./kubernetes-object.ts";
import { specOf } from "./manifest-spec.ts";
import { possibleTargets } from "./possible-targets.ts";
import { hasQuantities, withBytes } from "./quantities.ts";
import { recognise } from "./recognised-kind.ts";

/** A document as data, and its place. */
export interface ReadDocument {
  readonly value: ConfigValue;
  readonly origin: Origin;
}

/**
 * Reads the resources of manifests. A resource with (reported) mistakes is returned without the parts that have them,
 * or without its content, so that references to it are not reported too.
 */
export function readManifests(
  documents: readonly ReadDocument[],
  diagnostics: Diagnostics,
  cached?: CachedManifestReads,
): Omit<ReadManifests, "found"> {
  // Schemas are only compiled for documents without a cached result.
  const unread = documents.filter((document) => cached?.documents.has(document) !== true);
  const read = manifestReader(
    unread.map(({ value }) => value),
    cached?.kinds,
  );
  const readOne = (document: ReadDocument): ReadManifests => {
    const found = new Diagnostics();
    const manifests = read(document, found);
    const isWhole = manifests.every(({ isPartial }) => !isPartial);
    let placeholders: readonly Manifest[] | undefined;
    const repaired = () => {
      placeholders ??= isWhole ? manifests : read(document, new Diagnostics(), "repaired");
      return placeholders;
    };
    return { manifests, found: found.list, repaired };
  };
  const all = documents.map((document) => {
    const one = cached?.documents.of(document, () => readOne(document)) ?? readOne(document);
    for (const each of one.found) diagnostics.add(each);
    return one;
  });
  const manifests = all.flatMap((each) => each.manifests);
  reportDuplicates(manifests, diagnostics);
  return { manifests, repaired: () => all.flatMap((each) => each.repaired()) };
}

/** The resources of a document, and their mistakes. */
export interface ReadManifests {
  readonly manifests: readonly Manifest[];
  /** Returns the resources with placeholders for the parts that have mistakes, to find the mistakes in the rest. */
  readonly repaired: () => readonly Manifest[];
  readonly found: readonly Diagnostic[];
}

/** Cached manifests by document, and the schemas of their kinds. */
export class CachedManifestReads {
  readonly documents = new CachedByObject<ReadDocument, ReadManifests>();
  readonly kinds: KindSchemas = new Map();
}

/** Result for a part with mistakes: it is removed, or has a placeholder. */
export type PartForm = "valid" | "repaired";

/** Returns a function that reads the resources of any of these documents. */
export function manifestReader(
  documents: readonly ConfigValue[],
  schemas: KindSchemas = new Map(),
): (document: ReadDocument, diagnostics: Diagnostics, form?: PartForm) => readonly Manifest[] {
  const values = documents.flatMap((each) => itemsOf(each).map(({ value }) => value));
  const preparation = { schemas, validators: new Map(), values };
  return ({ value, origin }, diagnostics, form = "valid") =>
    itemsOf(value).flatMap((item) => {
      const at = { ...origin, path: [...origin.path, ...item.path] };
      return readManifest(item.value, at, { ...preparation, form }, diagnostics) ?? [];
    });
}

/** Returns a resource of which only the name is known: references to it are valid, and nothing else follows from it. */
export function unknownManifest(kind: ManifestKind, namespace: string, name: string): Manifest {
  const title = namespace === "" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  const origin = { file: "", document: 0, path: [], resource: { name: title, depth: 0 } };
  return broken(kind, { namespace, name, labels: {}, internalPorts: [], created: "", origin });
}

/**
 * Returns a document without the values of its Secrets, because a digest of the values would reveal something about
 * them.
 */
export function withoutSecrets(value: ConfigValue): ConfigValue {
  if (!isKubernetes(value)) return value;
  if (Array.isArray(value.items)) return { ...value, items: value.items.map(withoutSecrets) };
  return value.kind === "Secret" ? { ...value, data: null, stringData: null } : value;
}

interface Item {
  readonly value: KubernetesObject;
  /** Path in its document. */
  readonly path: ConfigPath;
}

/** Returns the resource of a document, or those of a list as `kubectl get` prints it. */
function itemsOf(value: ConfigValue): readonly Item[] {
  if (!isKubernetes(value)) return [];
  if (!value.kind.endsWith("List") || !Array.isArray(value.items)) return [{ value, path: [] }];
  return value.items.flatMap((item: ConfigValue, index): readonly Item[] =>
    isKubernetes(item) ? [{ value: item, path: ["items", index] }] : [],
  );
}

/** The schemas of the kinds seen so far. */
type KindSchemas = Map<ManifestKind, KindSchema>;

interface KindSchema {
  readonly validator: ReusableValidator<unknown>;
  readonly hasAliases: boolean;
  readonly hasQuantities: boolean;
}

interface Prepared extends Omit<KindSchema, "validator"> {
  readonly schema: Schema;
  readonly validate: Validator<unknown>;
}

/** Validators of the kinds seen so far, and all resources that are read. */
interface Preparation {
  readonly schemas: KindSchemas;
  readonly validators: Map<ManifestKind, Prepared>;
  readonly values: readonly KubernetesObject[];
}

function readManifest(
  value: KubernetesObject,
  place: Origin,
  { schemas, validators, values, form }: Preparation & { readonly form: PartForm },
  diagnostics: Diagnostics,
): Manifest | undefined {
  const recognised = recognise(value, place, diagnostics);
  if (recognised === undefined) return undefined;
  const { row, isKnown } = recognised;
  const { name, namespace, labels, internalPorts, created } = metadataOf(value, row);
  const title = `${row.kind} ${row.isNamespaced ? `${namespace}/` : ""}${name}`;
  const origin = { ...place, resource: { name: title, depth: place.path.length } };
  const known = { namespace, name, labels, internalPorts, created, origin };
  // The meaning of another version is unknown; only the existence of the resource is known.
  if (!isKnown) return broken(row.kind, known);
  const preparedOnce = () => {
    const prepared = validators.get(row.kind) ?? prepare(row, values, schemas);
    validators.set(row.kind, prepared);
    return prepared;
  };
  const unread = (): Manifest =>
    guarded(origin, new Diagnostics(), () =>
      withTargets(value, place, { row, known, form, prepared: preparedOnce() }),
    ) ?? broken(row.kind, known);
  if (cutBelow(value, MAX_LEVELS) !== value) {
    diagnostics.report("nested-too-deep", origin, { levels: MAX_LEVELS });
    return withPossibleTargets(unread(), value);
  }
  if (!HOLDS_DATA.has(row.kind) && isLargerThan(value, MAX_SIZE)) {
    diagnostics.report("resource-too-large", origin, { size: MAX_SIZE });
    return withPossibleTargets(unread(), value);
  }
  const read = guarded(childOf(origin, "spec"), diagnostics, () =>
    readContent(value, place, { row, known, form, prepared: preparedOnce() }, diagnostics),
  );
  return withPossibleTargets(read ?? unread(), value);
}

/** Adds its possible targets to a policy that is not read, so that it closes only these. */
function withPossibleTargets(manifest: Manifest, { spec }: KubernetesObject): Manifest {
  if (manifest.spec !== undefined || !POLICIES.has(manifest.kind)) return manifest;
  return { ...manifest, possibleTargets: possibleTargets(spec) };
}

/** Kinds whose mistakes close what they target. */
const POLICIES: ReadonlySet<ManifestKind> = new Set(["GatewayPolicy", "BackendTLSPolicy"]);

/** Kinds whose size costs nothing to compile: their data is passed on, or not read. */
const HOLDS_DATA: ReadonlySet<ManifestKind> = new Set(["Secret", "ConfigMap", "EndpointSlice"]);

/**
 * Returns a policy that is not read with its targets, so that it closes these alone; `undefined` if the targets are not
 * readable either.
 */
function withTargets(
  value: KubernetesObject,
  place: Origin,
  resource: ReadResource,
): Manifest | undefined {
  if (resource.row.kind !== "GatewayPolicy") return undefined;
  const { apiVersion, kind, metadata, spec } = value;
  const { targetRefs, targetSelectors } = objectFields(spec);
  const targets = {
    ...(targetRefs !== undefined && { targetRefs }),
    ...(targetSelectors !== undefined && { targetSelectors }),
  };
  const found = new Diagnostics();
  const head = { apiVersion, kind, ...(metadata && { metadata }), spec: targets };
  const manifest = readContent(head, place, resource, found);
  if (found.list.length > 0) return undefined;
  return { ...manifest, isPartial: true, broken: [[...place.path, "spec"]] };
}

/** A resource of a known kind and version. */
interface ReadResource {
  readonly row: KindRow;
  readonly known: Omit<Manifest, "kind" | "spec" | "isPartial" | "broken">;
  readonly prepared: Prepared;
  readonly form: PartForm;
}

/** Reads the content of a resource of a known version. */
function readContent(
  value: KubernetesObject,
  place: Origin,
  { row, known, prepared, form }: ReadResource,
  diagnostics: Diagnostics,
): Manifest {
  const { origin } = known;
  const given = prepared.hasQuantities ? withBytes(value, prepared.schema) : value;
  const read = { value: given, envTemplates: [], expanded: [] };
  const isPartial = prepared.validate.whole(read, origin, diagnostics) === undefined;
  const { valid, broken: left } = isPartial
    ? partsOf(given, form, prepared.validate)
    : { valid: given, broken: [] };
  const content = valid && prepared.hasAliases ? withoutAliases(valid, prepared.schema) : valid;
  const spec = content && specOf(row.kind, content);
  const whole = { ...known, kind: row.kind, spec, isPartial };
  // The schema has validated the shape, and the type of a specification is that of its schema.
  return { ...whole, broken: left.map((path) => [...place.path, ...path]) } as Manifest;
}

/** Returns a resource without the parts that have mistakes, or with placeholders. */
function partsOf(
  value: ConfigValue,
  form: PartForm,
  validate: Validator<unknown>,
): { readonly valid: ConfigValue | undefined; readonly broken: readonly ConfigPath[] } {
  // Removing parts changes the value, which belongs to its document.
  const copy: ConfigValue = structuredClone<ConfigValue>(value);
  const read = { value: copy, envTemplates: [], expanded: [] };
  const { value: valid, broken } =
    form === "valid"
      ? validate.valid(read)
      : validate.repaired(read, { file: "", document: 0, path: [] }, new Diagnostics());
  // Parts of a document are plain data.
  return { valid: valid as ConfigValue | undefined, broken };
}

function broken(
  kind: ManifestKind,
  known: Omit<Manifest, "kind" | "spec" | "isPartial" | "broken">,
): Manifest {
  // A resource without content still has its kind.
  return { ...known, kind, spec: undefined, isPartial: true, broken: [] } as Manifest;
}

function prepare(
  row: KindRow,
  values: readonly KubernetesObject[],
  schemas: KindSchemas,
): Prepared {
  const known = schemas.get(row.kind) ?? kindSchema(row);
  schemas.set(row.kind, known);
  const { validator, ...traits } = known;
  const own = values.filter(({ kind }) => row.names.includes(kind));
  return { ...traits, schema: validator.schema, validate: validator.for(own) };
}

function kindSchema(row: KindRow): KindSchema {
  const schema = row.schema();
  return {
    validator: new ReusableValidator(schema),
    hasAliases: hasAliases(schema),
    hasQuantities: hasQuantities(schema),
  };
}

/** Reads the metadata of a resource, which may not have been validated yet. */
function metadataOf(
  { metadata }: KubernetesObject,
  { isNamespaced }: KindRow,
): Pick<Manifest, "name" | "namespace" | "labels" | "internalPorts" | "created"> {
  const given = (typeof metadata === "object" && metadata !== null ? metadata : {}) as Readonly<
    Record<string, ConfigValue>
  >;
  const text = (value: ConfigValue | undefined): string => (typeof value === "string" ? value : "");
  const labels = Object.entries((given.labels ?? {}) as object);
  const annotations = new Map(Object.entries((given.annotations ?? {}) as object));
  const ports = INTERNAL_PORTS.map((name) => text(annotations.get(name))).join(",");
  return {
    name: text(given.name),
    namespace: isNamespaced ? text(given.namespace) || "default" : "",
    labels: Object.fromEntries(labels.map(([name, value]) => [name, scalarText(value)])),
    internalPorts: ports.split(",").flatMap((port) => (port.trim() === "" ? [] : Number(port))),
    created: text(given.creationTimestamp),
  };
}

/** Annotations with ports that are not opened to clients. */
const INTERNAL_PORTS = ["gwc.dev/internal-ports", "agentgateway.dev/internal-ports"];

function reportDuplicates(manifests: readonly Manifest[], diagnostics: Diagnostics): void {
  const seen = new Map<string, Manifest>();
  for (const manifest of manifests) {
    const { kind, namespace, name, origin } = manifest;
    const key = `${kind} ${namespace}/${name}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, manifest);
      continue;
    }
    const related = [{ at: namePlace(first.origin), label: "first declared here" }];
    const resource = origin.resource?.name ?? key;
    diagnostics.report("duplicate-resource", namePlace(origin), { resource }, related);
  }
}

function namePlace(origin: Origin): Origin {
  return { ...origin, path: [...origin.path, "metadata", "name"] };
}
