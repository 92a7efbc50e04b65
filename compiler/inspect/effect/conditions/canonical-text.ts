import type { LiteralValue, MacroNode, Node } from "../../../cel/parse/ast.ts";

/** The names that macros give their variables here, by the names they have in the expression. */
type Renamed = Readonly<Record<string, string>>;

/**
 * An expression as text that is the same for every layout, quoting and naming of macro variables: equal texts mean the
 * same. Texts that differ may mean the same, too.
 */
export function canonicalText(node: Node, names: Renamed = {}, depth = 0): string {
  const text = (each: Node): string => canonicalText(each, names, depth);
  switch (node.kind) {
    case "literal":
      return literalText(node.literal);
    case "name":
      return names[node.name] ?? node.name;
    case "select":
      return `${text(node.operand)}.${node.isOptional ? "?" : ""}${node.field}`;
    case "index":
      return `${text(node.operand)}[${node.isOptional ? "?" : ""}${text(node.index)}]`;
    case "presence":
      return `has(${text(node.operand)}.${node.field})`;
    case "call":
      return callText(node.name, node.isMethod, node.args.map(text));
    case "logical":
      return `(${node.operands.map(text).join(` ${node.operator} `)})`;
    case "conditional":
      return `(${text(node.test)} ? ${text(node.consequent)} : ${text(node.alternate)})`;
    case "list":
      return `[${node.elements.map(text).join(", ")}]`;
    case "map":
      return `{${node.entries.map(({ key, value }) => `${text(key)}: ${text(value)}`).join(", ")}}`;
    case "macro":
      return macroText(node, names, depth);
  }
}

function callText(name: string, isMethod: boolean, args: readonly string[]): string {
  const [first = "", ...others] = args;
  if (/^\w/.test(name) && name !== "in")
    return isMethod ? `${first}.${name}(${others.join(", ")})` : `${name}(${args.join(", ")})`;
  return args.length === 1 ? `${name}(${first})` : `(${args.join(` ${name} `)})`;
}

function macroText({ macro, range, variables, bodies }: MacroNode, names: Renamed, depth: number) {
  const own = variables.map((variable, index) => [variable.name, `v${depth}_${index}`] as const);
  const inner = { ...names, ...Object.fromEntries(own) };
  const subject = canonicalText(range, names, depth);
  const parts = [
    ...own.map(([, name]) => name),
    ...bodies.map((body) => canonicalText(body, inner, depth + 1)),
  ];
  if (macro === "bind") return `cel.bind(${[parts[0], subject, parts[1]].join(", ")})`;
  return `${subject}.${macro === "existsOne" ? "exists_one" : macro}(${parts.join(", ")})`;
}

function literalText(literal: LiteralValue): string {
  switch (literal.kind) {
    case "null":
      return "null";
    case "bool":
    case "int":
      return String(literal.value);
    case "uint":
      return `${literal.value}u`;
    case "double":
      return Number.isInteger(literal.value) ? `${literal.value}.0` : String(literal.value);
    case "string":
      return JSON.stringify(literal.value);
    case "bytes": {
      const digits = [...literal.value].map((byte) => byte.toString(16).padStart(2, "0"));
      return `b"${digits.map((each) => `\\x${each}`).join("")}"`;
    }
  }
}
