import type { EmittedValue } from "../emit/emitted-value.ts";
import type { Type } from "../types/types.ts";

/** A variable, or a field of one of the gateway's own objects: `request`, `request.path`. */
export interface Declaration {
  readonly path: string;
  readonly type: Type;
  /** How emitted code reads it. Undefined for an object that is no value by itself. */
  readonly code: EmittedValue | undefined;
  /** The variable of the emitted function that the code reads: `request`. */
  readonly variable: string | undefined;
  /** One sentence for the reference. */
  readonly doc: string;
}

/** The variables that an expression may read. */
export interface Environment {
  /** The phase, as messages call it: `a request rule`. */
  readonly description: string;
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Where a variable that this environment does not have could be used; empty for none. */
  readonly elsewhere: (path: string) => readonly string[];
}

/** The declarations one step below a path (`""`: the variables), by their last name. */
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

/** The shortest path that ends in a name: `mcp.tool` for `tool`; undefined when there is none. */
export function pathTo(environment: Environment, name: string): string | undefined {
  const paths = [...environment.declarations.keys()].filter((path) => path.endsWith(`.${name}`));
  return paths.sort((a, b) => a.length - b.length)[0];
}
