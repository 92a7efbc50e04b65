import type { Json } from "../../compiler/ir.ts";

type JsonObject = { readonly [key: string]: Json | undefined };

/**
 * The field that tells a list's items apart, by the list's name (Kubernetes API, `patchMergeKey`). Other lists are
 * replaced as a whole. `ports` of a container and of a Service have keys of their own.
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
};

/**
 * Merges a patch into a resource as Kubernetes' strategic merge patch does: maps are merged, keyed lists are merged by
 * key and appended to, everything else is replaced. `$patch: delete` takes a map or a list's item out, `$patch: replace`
 * puts the patch in the place of what is there, null takes a field out.
 */
export function strategicMerge(base: Json | undefined, patch: Json, name = ""): Json | undefined {
  if (Array.isArray(patch)) return mergeList(Array.isArray(base) ? base : [], patch, name);
  if (!isObject(patch)) return patch;
  const { $patch: directive, ...rest } = patch;
  if (directive === "delete") return undefined;
  if (directive === "replace" || !isObject(base)) return mergeObject({}, rest);
  return mergeObject(base, rest);
}

function mergeObject(base: JsonObject, patch: JsonObject): JsonObject {
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

/** The key that every item has. */
function keyOf(items: readonly Json[], name: string): string | undefined {
  return MERGE_KEYS[name]?.find((key) => items.every((item) => fieldOf(item, key) !== undefined));
}

function fieldOf(item: Json, key: string): Json | undefined {
  return isObject(item) ? item[key] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
