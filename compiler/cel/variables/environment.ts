import type { EmittedValue } from "../emit/emitted-value.ts";
import type { Type } from "../types/types.ts";

/** A variable, or a field of one of the gateway's objects: `request`, `request.path`. */
export interface Declaration {
  readonly path: string;
  readonly type: Type;
  /** Code that reads it; `undefined` for an object that is not a value. */
  readonly code: EmittedValue | undefined;
  /** Variable of the emitted function that the code reads: `request`. */
  readonly variable: string | undefined;
  /** One sentence for the reference. */
  readonly doc: string;
}

/** Variables that an expression can use. */
export interface Environment {
  /** Name of the phase in messages: `a request rule`. */
  readonly description: string;
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Returns the phases in which a variable that is missing here exists; empty if there are none. */
  readonly elsewhere: (path: string) => readonly string[];
}

/** Returns the declarations directly below a path (`""` for the variables), by name. */
export function membersOf(environment: Environment, path: string): readonly string[] {
  const prefix = path === "" ? "" : `${path}.`;
  const names: string[] = [];
  for (const each of environment.declarations.keys()) {
    if (!each.startsWith(prefix)) continue;
    const rest = each.slice(prefix.length);
    if (rest !== "" && !rest.includes(".")) names.push(rest);
  }
  return names.sort();
}

/** Returns the shortest path that ends in a name: `mcp.tool` for `tool`; `undefined` if there is none. */
export function pathTo(environment: Environment, name: string): string | undefined {
  const paths = [...environment.declarations.keys()].filter((path) => path.endsWith(`.${name}`));
  return paths.sort((a, b) => a.length - b.length)[0];
}
