import type { Json } from "../../compiler/model/json.ts";

/** A JSON object. */
export type MergeObject = { readonly [key: string]: Json | undefined };

/**
 * Field that identifies the items of a list, by the list's name (Kubernetes API, `patchMergeKey`). Other lists are
 * replaced as a whole. `ports` of a container and of a Service have different keys.
 */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ["name"],
  initContainers: ["name"],
  ephemeralContainers: ["name"],
  volumes: ["name"],
  env: ["name"],
  imagePullSecrets: ["name"],
  volumeMounts: ["mountPath"],
  volumeDevices: ["devicePath"],
  ports: ["containerPort", "port"],
  hostAliases: ["ip"],
  topologySpreadConstraints: ["topologyKey"],
  ownerReferences: ["uid"],
  conditions: ["type"],
  resourceClaims: ["name"],
  schedulingGates: ["name"],
};

/**
 * Merges a patch into a resource like Kubernetes' strategic merge patch: maps are merged, keyed lists are merged by
 * key and extended, everything else is replaced. `$patch: delete` removes a map or an item, `$patch: replace`
 * replaces it, and null removes a field.
 */
export function strategicMerge(base: Json | undefined, patch: Json, name = ""): Json | undefined {
  if (Array.isArray(patch)) return mergeList(Array.isArray(base) ? base : [], patch, name);
  if (!isObject(patch)) return patch;
  const { $patch: directive, $retainKeys: retained, ...rest } = patch;
  if (directive === "delete") return undefined;
  const isReplaced = directive === "replace" || !isObject(base);
  const kept = isReplaced ? {} : withoutItems(base, rest);
  const merged = inOrder(mergeObject(kept, withoutDirectives(rest)), rest);
  if (!Array.isArray(retained)) return merged;
  return Object.fromEntries(Object.entries(merged).filter(([key]) => retained.includes(key)));
}

const DELETED_ITEMS = "$deleteFromPrimitiveList/";
const ORDER_OF_ITEMS = "$setElementOrder/";

/** Removes the items of lists of scalars that the patch deletes. */
function withoutItems(base: MergeObject, patch: MergeObject): MergeObject {
  const lists = Object.entries(patch).flatMap(([key, items]) => {
    const name = key.startsWith(DELETED_ITEMS) ? key.slice(DELETED_ITEMS.length) : undefined;
    const list = name === undefined ? undefined : base[name];
    if (name === undefined || !Array.isArray(list) || !Array.isArray(items)) return [];
    return [[name, list.filter((item) => !items.includes(item))]];
  });
  return { ...base, ...Object.fromEntries(lists) };
}

function withoutDirectives(patch: MergeObject): MergeObject {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith("$")));
}

/** Sorts the items of lists as the patch requests; items that it does not name keep their positions. */
function inOrder(merged: MergeObject, patch: MergeObject): MergeObject {
  const lists = Object.entries(patch).flatMap(([directive, order]) => {
    if (!directive.startsWith(ORDER_OF_ITEMS) || !Array.isArray(order)) return [];
    const name = directive.slice(ORDER_OF_ITEMS.length);
    const list = merged[name];
    if (!Array.isArray(list)) return [];
    const [key] = MERGE_KEYS[name] ?? [];
    const idOf = (item: Json) => (key !== undefined && isObject(item) ? fieldOf(item, key) : item);
    const ids = order.map(idOf);
    const ordered = ids.flatMap((id) => list.filter((item) => idOf(item) === id)).values();
    return [[name, list.map((item) => (ids.includes(idOf(item)) ? ordered.next().value : item))]];
  });
  return { ...merged, ...Object.fromEntries(lists) };
}

function mergeObject(base: MergeObject, patch: MergeObject): MergeObject {
  const merged: Record<string, Json | undefined> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    const next =
      value === undefined || value === null ? undefined : strategicMerge(base[key], value, key);
    if (next === undefined) delete merged[key];
    else merged[key] = next;
  }
  return merged;
}

function mergeList(base: readonly Json[], patch: readonly Json[], name: string): readonly Json[] {
  const items = patch.filter((item) => !(isObject(item) && item.$patch === "replace"));
  const isReplaced = items.length < patch.length;
  const key = isReplaced ? undefined : keyOf([...base, ...items], name);
  if (key === undefined) return items.flatMap((item) => strategicMerge(undefined, item) ?? []);
  const merged = new Map<Json | undefined, Json>(base.map((item) => [fieldOf(item, key), item]));
  for (const item of items) {
    const id = fieldOf(item, key);
    const next = strategicMerge(merged.get(id), item);
    if (next === undefined) merged.delete(id);
    else merged.set(id, next);
  }
  return [...merged.values()];
}

/** Returns the key that every item has. */
function keyOf(items: readonly Json[], name: string): string | undefined {
  return MERGE_KEYS[name]?.find((key) => items.every((item) => fieldOf(item, key) !== undefined));
}

function fieldOf(item: Json, key: string): Json | undefined {
  return isObject(item) ? item[key] : undefined;
}

/** Returns whether a value is an object with fields. */
export function isObject(value: Json | undefined): value is MergeObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
