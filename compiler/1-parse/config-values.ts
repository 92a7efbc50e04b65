import type { ConfigPath } from "../diagnostics.ts";
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
export function valueAt(value: ConfigValue, path: ConfigPath): unknown {
  return path.reduce<unknown>(childOf, value);
}

function childOf(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}
