import { childrenOf, type MacroNode, mapChildren, type Node } from "../parse/ast.ts";

/**
 * Replaces the variables of bindings with their values, for selected bindings. `cel.bind(t, a, t || b)` becomes `a ||
 * b`: an error in the value of a binding is absorbed where the variable is used.
 */
export function inlineBindings(root: Node, isWanted: (value: Node) => boolean): Node {
  return visit(root, new Map(), isWanted);
}

/** Replacements of variables. */
type Values = ReadonlyMap<string, Node>;

function visit(node: Node, values: Values, isWanted: (value: Node) => boolean): Node {
  if (node.kind === "name") return values.get(node.name) ?? node;
  if (node.kind !== "macro") return mapChildren(node, (child) => visit(child, values, isWanted));
  const range = visit(node.range, values, isWanted);
  const [variable] = node.variables;
  const [body] = node.bodies;
  const isBinding = node.macro === "bind" || node.macro === "with";
  if (isBinding && variable !== undefined && body !== undefined && isWanted(range)) {
    return visit(body, new Map([...values, [variable.name, range]]), isWanted);
  }
  const { variables, inner } = scopeOf(node, values);
  const changed = mapChildren(node, (child) =>
    child === node.range ? range : visit(child, inner, isWanted),
  );
  return changed.kind === "macro" ? { ...changed, variables } : changed;
}

/** Renames the macro's variables so that they do not capture names in the replacements. */
function scopeOf(
  node: MacroNode,
  values: Values,
): { readonly variables: MacroNode["variables"]; readonly inner: Values } {
  const taken = new Set([...values.values()].flatMap((value) => [...namesIn(value)]));
  if (taken.size === 0) return { variables: node.variables, inner: values };
  const inner = new Map(values);
  const variables = node.variables.map((variable) => {
    inner.delete(variable.name);
    if (!taken.has(variable.name)) return variable;
    for (const body of node.bodies) for (const name of namesIn(body)) taken.add(name);
    let name = `${variable.name}_`;
    while (taken.has(name)) name += "_";
    taken.add(name);
    inner.set(variable.name, { kind: "name", span: variable.span, name });
    return { ...variable, name };
  });
  return { variables, inner };
}

/** Returns every name that a node reads, including variables of its own macros. */
function namesIn(node: Node): ReadonlySet<string> {
  const seen = new Set<Node>();
  const names = new Set<string>();
  const search = (each: Node): void => {
    if (seen.has(each)) return;
    seen.add(each);
    if (each.kind === "name") names.add(each.name);
    for (const child of childrenOf(each)) search(child);
  };
  search(node);
  return names;
}
