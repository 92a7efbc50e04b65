import fc from "fast-check";

/** A rule as a tree, so that it can be written in several ways. */
export type RuleTree =
  | { readonly kind: "atom"; readonly text: string }
  | { readonly kind: "not"; readonly operand: RuleTree }
  | { readonly kind: "and" | "or"; readonly operands: readonly [RuleTree, RuleTree] };

/** An item in an expression. */
export interface Item {
  readonly kind: "tool" | "prompt" | "resource";
  readonly name: string;
}

/** Conditions on items and on the caller; some fail for callers without the claim. */
const ATOMS: Readonly<
  Record<string, (item: Item, jwt: Readonly<Record<string, unknown>> | null) => boolean | "fails">
> = {
  'mcp.tool.name == "add"': ({ name }) => name === "add",
  'mcp.tool.name != "add"': ({ name }) => name !== "add",
  'mcp.tool.name in ["add", "drop"]': ({ name }) => name === "add" || name === "drop",
  'mcp.tool.name.startsWith("d")': ({ name }) => name.startsWith("d"),
  'mcp.prompt.name == "ask"': ({ name }) => name === "ask",
  'mcp.prompt.target != "other"': () => true,
  'mcp.resource.name.startsWith("memo:")': ({ name }) => name.startsWith("memo:"),
  'jwt.sub == "alice"': (_, jwt) => (jwt === null ? "fails" : jwt.sub === "alice"),
  "jwt.level > 3": (_, jwt) => (typeof jwt?.level === "number" ? jwt.level > 3 : "fails"),
  "has(jwt.level)": (_, jwt) => jwt?.level !== undefined,
  "has(mcp.tool)": ({ kind }) => kind === "tool",
};

/** Trees of conditions, most of them over more than one kind of item. */
export const ruleTrees: fc.Arbitrary<RuleTree> = fc.letrec<{ tree: RuleTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...Object.keys(ATOMS)).map((text) => ({ kind: "atom", text }) as const),
    tie("tree").map((operand) => ({ kind: "not", operand }) as const),
    fc
      .tuple(fc.constantFrom("and", "or"), tie("tree"), tie("tree"))
      .map(([kind, left, right]) => ({ kind, operands: [left, right] }) as const),
  ),
})).tree;

/** Writes the rule in the usual way. */
export function plainText(tree: RuleTree): string {
  switch (tree.kind) {
    case "atom":
      return tree.text;
    case "not":
      return `!(${plainText(tree.operand)})`;
    default: {
      const operator = tree.kind === "and" ? " && " : " || ";
      return tree.operands.map((operand) => `(${plainText(operand)})`).join(operator);
    }
  }
}

/** Writes the same rule in other words: every choice is a number below `choices`. */
export function rewritten(tree: RuleTree, choose: (choices: number) => number): string {
  const text = form(tree, choose);
  switch (choose(6)) {
    case 0:
      return `(${text})`;
    case 1:
      return `!!(${text})`;
    case 2:
      return `cel.bind(it, ${text}, it)`;
    case 3:
      return `cel.bind(mcp_, ${text}, mcp_ && true)`;
    case 4:
      return readsItem(tree) ? `((${text}) ? true : false)` : text;
    default:
      return text;
  }
}

function form(tree: RuleTree, choose: (choices: number) => number): string {
  if (tree.kind === "atom") return tree.text;
  if (tree.kind === "not") return `!(${rewritten(tree.operand, choose)})`;
  const isTurned = choose(2) === 0;
  const [left, right] = isTurned ? [tree.operands[1], tree.operands[0]] : tree.operands;
  const [a, b] = [rewritten(left, choose), rewritten(right, choose)];
  const isAnd = tree.kind === "and";
  switch (choose(6)) {
    case 0:
      return isAnd ? `!(!(${a}) || !(${b}))` : `!(!(${a}) && !(${b}))`;
    case 1:
      return `cel.bind(x, ${a}, cel.bind(y, ${b}, x ${isAnd ? "&&" : "||"} y))`;
    // A failed test selects no branch: only conditions on items are the same as a choice.
    case 2:
      if (!readsItem(left)) break;
      return isAnd ? `((${a}) ? (${b}) : false)` : `((${a}) ? true : (${b}))`;
    case 3:
      if (!readsItem(left)) break;
      return isAnd ? `(!(${a}) ? false : (${b}))` : `(!(${a}) ? (${b}) : true)`;
    case 4:
      return `((${a}) == true) ${isAnd ? "&&" : "||"} ((${b}) != false)`;
  }
  return `(${a}) ${isAnd ? "&&" : "||"} (${b})`;
}

function readsItem(tree: RuleTree): boolean {
  if (tree.kind === "atom") return /^mcp\./.test(tree.text);
  if (tree.kind === "not") return readsItem(tree.operand);
  return tree.operands.some(readsItem);
}

/** Returns the alternatives of a rule, each as a rule. */
export function alternatives(tree: RuleTree): readonly RuleTree[] {
  return tree.kind === "or" ? tree.operands.flatMap(alternatives) : [tree];
}

/** Whether a rule may be true for an item, and whether it may be false: both if it fails, neither for other kinds. */
export interface Verdict {
  readonly isTrue: boolean;
  readonly isFalse: boolean;
}

/** Evaluates a rule for an item on its tree. */
export function verdictOf(
  tree: RuleTree,
  item: Item,
  jwt: Readonly<Record<string, unknown>> | null,
): Verdict {
  if (tree.kind === "atom") {
    const kind = /^mcp\.(\w+)/.exec(tree.text)?.[1];
    if (kind !== undefined && kind !== item.kind) return { isTrue: false, isFalse: false };
    const result = ATOMS[tree.text]?.(item, jwt);
    return { isTrue: result !== false, isFalse: result !== true };
  }
  if (tree.kind === "not") {
    const { isTrue, isFalse } = verdictOf(tree.operand, item, jwt);
    return { isTrue: isFalse, isFalse: isTrue };
  }
  const [left, right] = tree.operands.map((operand) => verdictOf(operand, item, jwt));
  if (left === undefined || right === undefined) throw new Error("an operand is missing");
  return tree.kind === "and"
    ? { isTrue: left.isTrue && right.isTrue, isFalse: left.isFalse || right.isFalse }
    : { isTrue: left.isTrue || right.isTrue, isFalse: left.isFalse && right.isFalse };
}
