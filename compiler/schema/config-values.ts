import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { EnvTemplate } from "../model/texts.ts";

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

/** Whether a value has keys. */
export function isMapping(value: ConfigValue): value is ConfigMapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

/** A YAML value as plain data: objects without a prototype, so that `__proto__` is a key like any other. */
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

/** A value and the texts in it that the gateway reads when it starts, by path: validation sees what the user wrote there. */
export interface ReadValue {
  readonly value: ConfigValue;
  readonly envTemplates: readonly { readonly path: ConfigPath; readonly text: EnvTemplate }[];
  readonly expanded: readonly ExpandedText[];
}

/** A scalar that came from the environment. Its value may be a secret in the wrong place: it is never shown. */
export interface ExpandedText {
  readonly path: ConfigPath;
  /** As the user wrote it: `${NAME}`. */
  readonly source: string;
  /** False when a variable of it is not set, which is reported by then. */
  readonly isComplete: boolean;
}

/** Puts the texts that are read at start in their places, once the value has been validated. */
export function withEnvTemplates({ value, envTemplates }: ReadValue): ConfigValue {
  for (const { path, text } of envTemplates) {
    const parent = path.slice(0, -1).reduce<unknown>(childOf, value);
    const last = path.at(-1);
    // What stood there may have been left out.
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
