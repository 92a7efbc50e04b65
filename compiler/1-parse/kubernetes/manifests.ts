import type { CachedByObject } from "../../cached-results.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostic,
  Diagnostics,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { KeyedData, Manifest, ManifestKind } from "../../manifests/manifests.ts";
import { cutBelow, isLargerThan, MAX_LEVELS, MAX_SIZE } from "../../model/nesting.ts";
import {
  CONTENTS_ANNOTATION,
  type SecretContents,
  secretContents,
  UNKNOWN_CONTENTS,
} from "../../model/secret-contents.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { scalarText } from "../../schema/config-values.ts";
import type { Schema } from "../../schema/schema.ts";
import { type Validator, validator } from "../../schema/validate.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import { hasAliases, withoutAliases } from "./aliases.ts";
import { GATEWAY_GROUP, type KindRow, kinds, OUR_GROUPS, splitApiVersion } from "./kinds.ts";
import { possibleTargets } from "./possible-targets.ts";
import { hasQuantities, withBytes } from "./quantities.ts";

/** A value with the fields of a Kubernetes resource. */
export type KubernetesObject = { readonly apiVersion: string; readonly kind: string } & {
  readonly [key: string]: ConfigValue;
};

/** Whether a document is a Kubernetes manifest: it has an `apiVersion` and a `kind`. */
export function isKubernetes(value: ConfigValue): value is KubernetesObject {
  return (
    typeof value === "object" &&
    value !== null &&
    "apiVersion" in value &&
    "kind" in value &&
    typeof value.apiVersion === "string" &&
    value.apiVersion !== "" &&
    typeof value.kind === "string" &&
    value.kind !== ""
  );
}

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
  cached?: CachedByObject<ReadDocument, ReadManifests>,
): readonly Manifest[] {
  // Schemas are only compiled for documents without a cached result.
  const unread = documents.filter((document) => cached?.has(document) !== true);
  const read = manifestReader(unread.map(({ value }) => value));
  const readOne = (document: ReadDocument): ReadManifests => {
    const found = new Diagnostics();
    return { manifests: read(document, found), found: found.list };
  };
  const manifests = documents.flatMap((document) => {
    const one = cached?.of(document, () => readOne(document)) ?? readOne(document);
    for (const each of one.found) diagnostics.add(each);
    return one.manifests;
  });
  reportDuplicates(manifests, diagnostics);
  return manifests;
}

/** The resources of a document, and their mistakes. */
export interface ReadManifests {
  readonly manifests: readonly Manifest[];
  readonly found: readonly Diagnostic[];
}

/** Returns a function that reads the resources of any of these documents. */
export function manifestReader(
  documents: readonly ConfigValue[],
): (document: ReadDocument, diagnostics: Diagnostics) => readonly Manifest[] {
  const values = documents.flatMap((each) => itemsOf(each).map(({ value }) => value));
  const preparation = { validators: new Map(), values };
  return ({ value, origin }, diagnostics) =>
    itemsOf(value).flatMap((item) => {
      const at = { ...origin, path: [...origin.path, ...item.path] };
      return readManifest(item.value, at, preparation, diagnostics) ?? [];
    });
}

/** Returns a resource of which only the name is known: references to it are valid, and nothing else follows from it. */
export function unknownManifest(kind: ManifestKind, namespace: string, name: string): Manifest {
  const title = namespace === "" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  const origin = { file: "", document: 0, path: [], resource: { name: title, depth: 0 } };
  return broken(kind, { namespace, name, labels: {}, created: "", origin });
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

interface Prepared {
  readonly schema: Schema;
  readonly validate: Validator<unknown>;
  readonly hasAliases: boolean;
  readonly hasQuantities: boolean;
}

/** Validators of the kinds seen so far, and all resources that are read. */
interface Preparation {
  readonly validators: Map<ManifestKind, Prepared>;
  readonly values: readonly KubernetesObject[];
}

function readManifest(
  value: KubernetesObject,
  place: Origin,
  { validators, values }: Preparation,
  diagnostics: Diagnostics,
): Manifest | undefined {
  const recognised = recognise(value, place, diagnostics);
  if (recognised === undefined) return undefined;
  const { row, isKnown } = recognised;
  const { name, namespace, labels, created } = metadataOf(value, row);
  const title = `${row.kind} ${row.isNamespaced ? `${namespace}/` : ""}${name}`;
  const origin = { ...place, resource: { name: title, depth: place.path.length } };
  const known = { namespace, name, labels, created, origin };
  // The meaning of another version is unknown; only the existence of the resource is known.
  if (!isKnown) return broken(row.kind, known);
  const preparedOnce = () => {
    const prepared = validators.get(row.kind) ?? prepare(row, values);
    validators.set(row.kind, prepared);
    return prepared;
  };
  const unread = (): Manifest =>
    guarded(origin, new Diagnostics(), () =>
      withTargets(value, place, { row, known, prepared: preparedOnce() }),
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
    readContent(value, place, { row, known, prepared: preparedOnce() }, diagnostics),
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
  const { targetRefs, targetSelectors } = recordOf(spec);
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
}

/** Reads the content of a resource of a known version. */
function readContent(
  value: KubernetesObject,
  place: Origin,
  { row, known, prepared }: ReadResource,
  diagnostics: Diagnostics,
): Manifest {
  const { origin } = known;
  const given = prepared.hasQuantities ? withBytes(value, prepared.schema) : value;
  const read = { value: given, envTemplates: [], expanded: [] };
  const isPartial = prepared.validate.whole(read, origin, diagnostics) === undefined;
  const { valid, broken: left } = isPartial
    ? validPartsOf(given, prepared.validate)
    : { valid: given, broken: [] };
  const content = valid && prepared.hasAliases ? withoutAliases(valid, prepared.schema) : valid;
  const spec = content && specOf(row.kind, content);
  const whole = { ...known, kind: row.kind, spec, isPartial };
  // The schema has validated the shape, and the type of a specification is that of its schema.
  return { ...whole, broken: left.map((path) => [...place.path, ...path]) } as Manifest;
}

/** Returns a resource without the parts that have mistakes. */
function validPartsOf(
  value: ConfigValue,
  validate: Validator<unknown>,
): { readonly valid: ConfigValue | undefined; readonly broken: readonly ConfigPath[] } {
  // Removing parts changes the value, which belongs to its document.
  const copy: ConfigValue = structuredClone<ConfigValue>(value);
  const { value: valid, broken } = validate.valid({ value: copy, envTemplates: [], expanded: [] });
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

function prepare(row: KindRow, values: readonly KubernetesObject[]): Prepared {
  const schema = row.schema();
  const own = values.filter(({ kind }) => row.names.includes(kind));
  return {
    schema,
    validate: validator(schema, own),
    hasAliases: hasAliases(schema),
    hasQuantities: hasQuantities(schema),
  };
}

/**
 * Returns the row of a kind, and whether its version is known (otherwise reported); `undefined` if the resource is
 * skipped.
 */
function recognise(
  { apiVersion, kind }: KubernetesObject,
  origin: Origin,
  diagnostics: Diagnostics,
): { readonly row: KindRow; readonly isKnown: boolean } | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  const at = { ...origin, path: [...origin.path, "kind"] };
  const own = kinds.filter(({ groups }) => groups.includes(group));
  const row = own.find(({ names }) => names.includes(kind));
  if (row?.versions.includes(version) === true) return { row, isKnown: true };
  const known = row ?? misspelledGroup(kind, group, version);
  if (known !== undefined) {
    diagnostics.report(
      "wrong-version",
      { ...origin, path: [...origin.path, "apiVersion"] },
      {
        kind,
        found: apiVersion,
        known: known.versions
          .map((each) => [
            row === undefined ? (suggest(group, known.groups) ?? known.groups[0] ?? "") : group,
            each,
          ])
          .map((parts) => parts.filter((part) => part !== "").join("/"))
          .join(", "),
      },
    );
    return { row: known, isKnown: false };
  }
  if (group === GATEWAY_GROUP && kind === "UDPRoute") {
    diagnostics.report("not-built-yet", at, { what: "UDP proxying", field: kind });
    return undefined;
  }
  const suggestion = suggest(
    kind,
    own.flatMap(({ names }) => names),
  );
  const isMisspelled =
    OUR_GROUPS.includes(group) || (group === GATEWAY_GROUP && suggestion !== undefined);
  if (isMisspelled) diagnostics.report("unknown-kind", at, { kind, group, suggestion });
  else diagnostics.report("skipped-kind", at, { kind });
  return undefined;
}

/**
 * Finds the row of a kind with a misspelled group, or with a version in its place. gwc's kinds belong to no other
 * group.
 */
function misspelledGroup(kind: string, group: string, version: string): KindRow | undefined {
  const rows = kinds.filter(({ names }) => names.includes(kind));
  const isNear = ({ groups }: KindRow) => suggest(group || version, groups) !== undefined;
  return rows.find((row) => row.groups === OUR_GROUPS || isNear(row));
}

/** Reads the metadata of a resource, which may not have been validated yet. */
function metadataOf(
  { metadata }: KubernetesObject,
  { isNamespaced }: KindRow,
): Pick<Manifest, "name" | "namespace" | "labels" | "created"> {
  const given = (typeof metadata === "object" && metadata !== null ? metadata : {}) as Readonly<
    Record<string, ConfigValue>
  >;
  const text = (value: ConfigValue | undefined): string => (typeof value === "string" ? value : "");
  const labels = Object.entries((given.labels ?? {}) as object);
  return {
    name: text(given.name),
    namespace: isNamespaced ? text(given.namespace) || "default" : "",
    labels: Object.fromEntries(labels.map(([name, value]) => [name, scalarText(value)])),
    created: text(given.creationTimestamp),
  };
}

function specOf(kind: ManifestKind, value: ConfigValue): unknown {
  const document = value as Readonly<Record<string, ConfigValue>>;
  switch (kind) {
    case "Secret":
      return { ...keyedData(document), contents: readSecretContents(document) };
    case "ConfigMap":
      return { ...keyedData(document), contents: UNKNOWN_CONTENTS, texts: textsOf(document.data) };
    case "EndpointSlice":
    case "Namespace":
      return document;
    default:
      return document.spec;
  }
}

/**
 * Checks the known values of a Secret; an empty value is a placeholder for that of the cluster. If the values were
 * removed, an annotation contains the result.
 */
function readSecretContents({
  metadata,
  data,
  stringData,
}: Readonly<Record<string, ConfigValue>>): SecretContents {
  const given = recordOf(recordOf(metadata).annotations)[CONTENTS_ANNOTATION];
  if (typeof given === "string")
    return { ...UNKNOWN_CONTENTS, ...(valueOfJson(given) as Partial<SecretContents> | undefined) };
  const entries = [
    ...Object.entries(recordOf(data)).map(([key, value]) => [key, value, "base64"] as const),
    ...Object.entries(recordOf(stringData)).map(([key, value]) => [key, value, "utf8"] as const),
  ];
  const values = entries.map(([key, value, encoding]) => {
    const text = typeof value === "string" ? value : "";
    return [key, Buffer.from(text, encoding)] as const;
  });
  return secretContents(new Map(values), true);
}

function recordOf(value: ConfigValue | undefined): Readonly<Record<string, ConfigValue>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, ConfigValue>>) : {};
}

/** Returns the keys of a Secret; its values go no further than this. */
function keyedData(
  document: Readonly<Record<string, ConfigValue>>,
): Pick<KeyedData, "keys" | "isComplete"> {
  const parts = [document.data, document.stringData, document.binaryData];
  const given = parts.filter((part) => typeof part === "object" && part !== null);
  return {
    keys: given.flatMap((part) => Object.keys(part as object)).sort(),
    isComplete: given.length > 0,
  };
}

function textsOf(data: ConfigValue | undefined): Readonly<Record<string, string>> {
  if (typeof data !== "object" || data === null) return {};
  const texts = Object.entries(data).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts);
}

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
