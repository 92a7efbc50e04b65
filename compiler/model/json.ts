import { isJsonObject } from "../../runtime/json/json-object.ts";
/** Any JSON. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Returns the value at a path of keys; `undefined` if it is missing or a parent is not an object. */
export function jsonAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    value,
  );
}

/** Returns the value at a path within a typed value. */
export function valueWithin(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}
