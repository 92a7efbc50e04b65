import type { Node } from "../parse/ast.ts";

/**
 * The fields of variables without which an expression cannot be true, as `variable.field`: `mcp.tool` for
 * `mcp.tool.name == "a" && jwt.sub == "b"`, nothing for `mcp.tool.name == "a" || jwt.sub == "b"`. An absent field is an
 * error, and CEL's `&&` and `||` absorb errors, so it matters which side of them a field is read on. Left out where it is
 * not certain.
 */
export function needsOf(root: Node): ReadonlySet<string> {
  return verdicts(root).notTrue;
}

/** Fields whose absence keeps a node from being true, from being false, or from being anything. */
interface Verdicts {
  readonly notTrue: ReadonlySet<string>;
  readonly notFalse: ReadonlySet<string>;
  readonly fails: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Functions that go on when an argument is an error. */
const TOLERANT = new Set(["default", "coalesce"]);

function verdicts(node: Node): Verdicts {
  switch (node.kind) {
    case "logical":
      return logical(node.operator, node.operands.map(verdicts));
    case "conditional":
      return conditional(verdicts(node.test), verdicts(node.consequent), verdicts(node.alternate));
    case "call": {
      if (TOLERANT.has(node.name)) return strict([]);
      const args = node.args.map(verdicts);
      const [operand] = args;
      if (node.name !== "!" || operand === undefined) return strict(args);
      return { notTrue: operand.notFalse, notFalse: operand.notTrue, fails: operand.fails };
    }
    case "select":
      return select(node);
    case "presence":
      return strict([verdicts(node.operand)]);
    case "index":
      return node.isOptional ? strict([]) : strict([verdicts(node.operand), verdicts(node.index)]);
    case "list":
      return strict(node.elements.map(verdicts));
    case "map":
      return strict(node.entries.flatMap(({ key, value }) => [verdicts(key), verdicts(value)]));
    case "macro":
      return strict(node.macro === "bind" ? [] : [verdicts(node.range)]);
    default:
      return strict([]);
  }
}

function select(node: Extract<Node, { kind: "select" }>): Verdicts {
  const { operand, field, isOptional } = node;
  if (isOptional) return strict([]);
  if (operand.kind !== "name") return strict([verdicts(operand)]);
  const path = new Set([`${operand.name}.${field}`]);
  return { notTrue: path, notFalse: path, fails: path };
}

/** A node that fails when one of its parts does. */
function strict(parts: readonly Verdicts[]): Verdicts {
  const fails = union(parts.map((part) => part.fails));
  return { notTrue: fails, notFalse: fails, fails };
}

/** `a && b` is not true when either is not, and not false when neither can be; `||` is its mirror image. */
function logical(operator: "&&" | "||", parts: readonly Verdicts[]): Verdicts {
  const notTrue = parts.map((part) => part.notTrue);
  const notFalse = parts.map((part) => part.notFalse);
  const fails = intersection(parts.map((part) => part.fails));
  return operator === "&&"
    ? { notTrue: union(notTrue), notFalse: intersection(notFalse), fails }
    : { notTrue: intersection(notTrue), notFalse: union(notFalse), fails };
}

function conditional(test: Verdicts, yes: Verdicts, no: Verdicts): Verdicts {
  return {
    notTrue: union([test.fails, intersection([yes.notTrue, no.notTrue])]),
    notFalse: union([test.fails, intersection([yes.notFalse, no.notFalse])]),
    fails: union([test.fails, intersection([yes.fails, no.fails])]),
  };
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function intersection(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [first = NOTHING, ...rest] = sets;
  return new Set([...first].filter((path) => rest.every((set) => set.has(path))));
}
