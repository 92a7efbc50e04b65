import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { ConfigValue } from "./values.ts";

/** A JSON pointer (`/binds/0/port`) as a path: an array's steps are numbers. */
export function pointerPath(pointer: string, value: ConfigValue): ConfigPath {
  const path: (string | number)[] = [];
  let at: unknown = value;
  for (const raw of pointer.split("/").slice(1)) {
    const step = raw.replace(/~1/g, "/").replace(/~0/g, "~");
    path.push(Array.isArray(at) ? Number(step) : step);
    at = childOf(at, path.at(-1) ?? "");
  }
  return path;
}

/** The value at a path; undefined when there is none. */
export function configValueAt(value: ConfigValue, path: ConfigPath): unknown {
  return path.reduce<unknown>(childOf, value);
}

/** Every key of every mapping in the values. */
export function keysIn(values: readonly ConfigValue[]): ReadonlySet<string> {
  const keys = new Set<string>();
  const waiting: object[] = [];
  for (const value of values) if (isObject(value)) waiting.push(value);
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const isList = Array.isArray(value);
    for (const [key, child] of Object.entries(value)) {
      if (!isList) keys.add(key);
      if (isObject(child)) waiting.push(child);
    }
  }
  return keys;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function childOf(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}

/** A scalar as text; empty for a list or a mapping, which is another mistake and has no text (nor a prototype). */
export function scalarText(value: unknown): string {
  return typeof value === "object" ? "" : String(value);
}
