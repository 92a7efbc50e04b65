import type { ElementClasses } from "../classes/element-classes.ts";
import type { ValueClasses } from "../classes/value-class.ts";
import { type DataPath, pathKey } from "../data/data-path.ts";

/** A variable of diagrams. */
export type Variable = ValueVariable | ElementVariable | SizeVariable | OpaqueVariable;

/** Class of the value at a path. */
export interface ValueVariable extends ValueClasses {
  readonly kind: "value";
  readonly path: DataPath;
  /** Classes of list elements; `undefined` if no condition tests elements. */
  readonly elements: ElementClasses | undefined;
  /** Lower bounds of the size classes of lists, starting with 0; `undefined` if no condition tests sizes. */
  readonly sizes: readonly number[] | undefined;
}

/** Whether the list at a path has an element of a class: 0 no, 1 yes. */
export interface ElementVariable {
  readonly kind: "element";
  readonly path: DataPath;
  /** Class of the elements. */
  readonly index: number;
}

/** Size class of the list or map at a path: the largest of `sizes` that it reaches. */
export interface SizeVariable {
  readonly kind: "size";
  readonly path: DataPath;
  readonly sizes: readonly number[];
}

/** Truth of a condition that is identified by its source only. */
export interface OpaqueVariable {
  readonly kind: "opaque";
  readonly text: string;
  readonly reads: readonly DataPath[];
}

/** Returns the number of classes of a variable. */
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

/** Returns a unique string for a variable. */
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

/** Returns the rank of a variable in the order of levels; lower ranks come first. */
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
