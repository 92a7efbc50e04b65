import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { EnvTemplate } from "../model/texts.ts";

/** Converts a JSON pointer (`/binds/0/port`) to a path: steps into arrays are numbers. */
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

/** Returns the value at a path; `undefined` if there is no such value. */
export function configValueAt(value: ConfigValue, path: ConfigPath): unknown {
  return path.reduce<unknown>(childOf, value);
}

/** Whether a value is a mapping. */
export function isMapping(value: ConfigValue): value is ConfigMapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function childOf(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}

/**
 * Returns a scalar as a string; empty for lists and mappings, which have no `toString` without a prototype and are
 * reported elsewhere.
 */
export function scalarText(value: unknown): string {
  return typeof value === "object" ? "" : String(value);
}

/** A YAML value as plain data. Mappings have no prototype, so that `__proto__` is a key like any other. */
export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | EnvTemplate
  | readonly ConfigValue[]
  | ConfigMapping;

/** A YAML mapping as plain data. */
export interface ConfigMapping {
  readonly [key: string]: ConfigValue;
}

/**
 * A value and the strings in it that the gateway resolves when it starts, by path. Validation sees them as the user
 * wrote them.
 */
export interface ReadValue {
  readonly value: ConfigValue;
  readonly envTemplates: readonly { readonly path: ConfigPath; readonly text: EnvTemplate }[];
  readonly expanded: readonly ExpandedText[];
}

/** A scalar from the environment. Its value may be a secret in the wrong place, so it is never shown. */
export interface ExpandedText {
  readonly path: ConfigPath;
  /** The reference as the user wrote it: `${NAME}`. */
  readonly source: string;
  /** `false` if one of its variables is not set, which has already been reported. */
  readonly isComplete: boolean;
}

/** Inserts the strings that are resolved at startup into a validated value. */
export function withEnvTemplates({ value, envTemplates }: ReadValue): ConfigValue {
  for (const { path, text } of envTemplates) {
    const parent = path.slice(0, -1).reduce<unknown>(childOf, value);
    const last = path.at(-1);
    // Validation may have removed it.
    if (
      typeof parent === "object" &&
      parent !== null &&
      last !== undefined &&
      Object.hasOwn(parent, last)
    )
      Reflect.set(parent, last, text);
  }
  return value;
}
