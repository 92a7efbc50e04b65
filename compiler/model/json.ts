/** Any JSON. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** What stands at a path of keys; undefined where something on the way is no object, or is not there. */
export function jsonAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, key) =>
      typeof at === "object" && at !== null && !Array.isArray(at) && Object.hasOwn(at, key)
        ? Reflect.get(at, key)
        : undefined,
    value,
  );
}

/** The same of a value that has types of its own. */
export function valueWithin(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}
