import type { LiteralValue, MacroNode, Node } from "./ast.ts";

/** Canonical names of macro variables, by their names in the expression. */
type Renamed = Readonly<Record<string, string>>;

/**
 * Returns an expression as a string that does not depend on layout, quotes and names of macro variables: equal strings
 * have the same meaning. Different strings may have the same meaning too.
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
  const list = (all: readonly string[]) => all.map(withoutParentheses).join(", ");
  if (/^\w/.test(name) && name !== "in")
    return isMethod ? `${first}.${name}(${list(others)})` : `${name}(${list(args)})`;
  return args.length === 1 ? `${name}(${list(args)})` : `(${args.join(` ${name} `)})`;
}

function macroText({ macro, range, variables, bodies }: MacroNode, names: Renamed, depth: number) {
  const own = variables.map((variable, index) => [variable.name, macroName(depth, index)] as const);
  const inner = { ...names, ...Object.fromEntries(own) };
  const subject = canonicalText(range, names, depth);
  const parts = [
    ...own.map(([, name]) => name),
    ...bodies.map((body) => withoutParentheses(canonicalText(body, inner, depth + 1))),
  ];
  if (macro === "bind") return `cel.bind(${[parts[0], subject, parts[1]].join(", ")})`;
  return `${subject}.${macro === "existsOne" ? "exists_one" : macro}(${parts.join(", ")})`;
}

/**
 * Returns the name of a macro variable: `x`, in a nested macro `y`; the second variable is `x2`. No variable of
 * requests has such a name.
 */
function macroName(depth: number, index: number): string {
  const letter = ["x", "y", "z"][depth] ?? `v${depth}_`;
  return index === 0 ? letter : `${letter}${index + 1}`;
}

/** Returns an expression without enclosing parentheses. */
export function withoutParentheses(text: string): string {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length - 1; at += 1) {
    const character = text.charAt(at);
    if (quote !== "") {
      if (character === "\\") at += 1;
      else if (character === quote) quote = "";
    } else if (character === '"') quote = character;
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth === 0 && quote === "") return text;
  }
  return text.startsWith("(") ? text.slice(1, -1) : text;
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
