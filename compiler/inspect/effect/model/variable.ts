import type { ElementClasses } from "../classes/element-classes.ts";
import type { ValueClasses } from "../classes/value-class.ts";
import { type DataPath, pathKey } from "../data/data-path.ts";

/** Something that diagrams ask of a request. */
export type Variable = ValueVariable | ElementVariable | SizeVariable | OpaqueVariable;

/** The value at a path. */
export interface ValueVariable extends ValueClasses {
  readonly kind: "value";
  readonly path: DataPath;
  /** Of what its lists consist; undefined: nothing asks for their elements. */
  readonly elements: ElementClasses | undefined;
  /** The sizes of lists from which on something is different, with none as the first; undefined: nothing asks for them. */
  readonly sizes: readonly number[] | undefined;
}

/** Whether the list at a path has an element of a class: 0 no, 1 yes. */
export interface ElementVariable {
  readonly kind: "element";
  readonly path: DataPath;
  /** The class of elements. */
  readonly index: number;
}

/** The size of the list or map at a path, as the last of some sizes that it has or exceeds. */
export interface SizeVariable {
  readonly kind: "size";
  readonly path: DataPath;
  readonly sizes: readonly number[];
}

/** A condition that is known by its text alone: true, false, or an error. */
export interface OpaqueVariable {
  readonly kind: "opaque";
  readonly text: string;
  readonly reads: readonly DataPath[];
}

/** How many classes a variable has. */
export function sizeOfVariable(variable: Variable): number {
  switch (variable.kind) {
    case "value":
      return variable.classes.length;
    case "element":
      return 2;
    case "size":
      return variable.sizes.length;
    case "opaque":
      return 3;
  }
}

/** Names a variable: its own for each. */
export function variableKey(variable: Variable): string {
  switch (variable.kind) {
    case "value":
      return `= ${pathKey(variable.path)}`;
    case "element":
      return `${variable.index} in ${pathKey(variable.path)}`;
    case "size":
      return `size ${pathKey(variable.path)}`;
    case "opaque":
      return `? ${variable.text}`;
  }
}

/** The group of a path in the order of variables: what is asked first stands above. */
export function rankOf({ kind, ...variable }: Variable): number {
  if (kind === "opaque") return 9;
  if (kind === "element" || kind === "size") return 8;
  const [root = "", field = ""] = "path" in variable ? variable.path : [];
  const place = `${root}.${field}`;
  if (place === "mcp.item") return 4;
  if (root === "mcp") return 5;
  const first = ["request.host", "request.path", "request.method"].indexOf(place);
  if (first >= 0) return first;
  return ["request", "source", "env"].includes(root) ? 3 : 6;
}
