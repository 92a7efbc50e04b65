import { childrenOf, type MacroNode, type Node, type Span } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** Optional data of a request that an expression reads. */
export interface AbsentData {
  /** Description: `the header "x-id"`, `jwt.role`. */
  readonly name: string;
  /** Expression that tests for it: `has(jwt.role)`. */
  readonly test: string;
  /** Variable that it belongs to: `jwt`. */
  readonly variable: string;
  /** Place where it is first read. */
  readonly span: Span;
}

/** Returns the optional data without which an expression may fail: everything that no `has()` or `in` tests for. */
export function failsWithout(checked: CheckedExpression): readonly AbsentData[] {
  const found = new Map<string, AbsentData>();
  const search = (node: Node): void => {
    const data = dataOf(node, checked);
    if (data !== undefined && !found.has(data.test)) found.set(data.test, data);
    for (const child of childrenOf(node)) search(child);
  };
  search(checked.root);
  return [...found.values()]
    .slice(0, MAX_DATA)
    .filter(({ test }) => outcomeOf(checked.root, { checked, test, locals: new Map() }).mayFail);
}

/** Maximum number of data items that are analyzed. */
const MAX_DATA = 50;

/** Possible results of a node: a bool of either value, or an error. A value that is not a bool may be either. */
interface Outcome {
  readonly mayHold: boolean;
  readonly mayNot: boolean;
  readonly mayFail: boolean;
}

const ANY: Outcome = { mayHold: true, mayNot: true, mayFail: false };
const FALSE: Outcome = { mayHold: false, mayNot: true, mayFail: false };
const FAILS: Outcome = { mayHold: false, mayNot: false, mayFail: true };

interface Context {
  readonly checked: CheckedExpression;
  /** Absent data, as the expression that tests for it. */
  readonly test: string;
  /** Possible results of the variables of bindings. */
  readonly locals: ReadonlyMap<string, Outcome>;
}

function outcomeOf(node: Node, context: Context): Outcome {
  const { checked, test, locals } = context;
  if (dataOf(node, checked)?.test === test) return FAILS;
  if (testOf(node, checked) === test) return FALSE;
  const parts = (): readonly Outcome[] => childrenOf(node).map((each) => outcomeOf(each, context));
  switch (node.kind) {
    case "literal":
      return node.literal.kind === "bool" ? truth(node.literal.value) : ANY;
    case "name":
      return locals.get(node.name) ?? ANY;
    case "logical":
      return node.operator === "&&" ? both(parts()) : opposite(both(parts().map(opposite)));
    case "conditional":
      return chosen(node, context);
    case "macro":
      return ofMacro(node, context);
    case "select":
    case "index":
      return node.isOptional ? ANY : strict(parts());
    case "call":
      if (node.name === "!") return opposite(parts()[0] ?? ANY);
      return checked.callOf(node)?.declaration.isLazy === true ? firstOf(parts()) : strict(parts());
    default:
      return strict(parts());
  }
}

function truth(value: boolean): Outcome {
  return { mayHold: value, mayNot: !value, mayFail: false };
}

function opposite({ mayHold, mayNot, mayFail }: Outcome): Outcome {
  return { mayHold: mayNot, mayNot: mayHold, mayFail };
}

/** Combines `a && b`: an error only if no operand is false. */
function both(parts: readonly Outcome[]): Outcome {
  return {
    mayHold: parts.every(({ mayHold }) => mayHold),
    mayNot: parts.some(({ mayNot }) => mayNot),
    mayFail:
      parts.some(({ mayFail }) => mayFail) &&
      parts.every(({ mayHold, mayFail }) => mayHold || mayFail),
  };
}

/** Combines parts of which each must succeed. */
function strict(parts: readonly Outcome[]): Outcome {
  const mustFail = parts.some(({ mayHold, mayNot }) => !mayHold && !mayNot);
  return mustFail ? FAILS : { ...ANY, mayFail: parts.some(({ mayFail }) => mayFail) };
}

/** Combines `default(a, b)`: the first part that is not an error. */
function firstOf(parts: readonly Outcome[]): Outcome {
  return parts.reduceRight((rest, part) =>
    part.mayFail
      ? {
          mayHold: part.mayHold || rest.mayHold,
          mayNot: part.mayNot || rest.mayNot,
          mayFail: rest.mayFail,
        }
      : part,
  );
}

function chosen(node: Extract<Node, { kind: "conditional" }>, context: Context): Outcome {
  const test = outcomeOf(node.test, context);
  const branches = [
    ...(test.mayHold ? [outcomeOf(node.consequent, context)] : []),
    ...(test.mayNot ? [outcomeOf(node.alternate, context)] : []),
    ...(test.mayFail ? [FAILS] : []),
  ];
  return {
    mayHold: branches.some(({ mayHold }) => mayHold),
    mayNot: branches.some(({ mayNot }) => mayNot),
    mayFail: branches.some(({ mayFail }) => mayFail),
  };
}

function ofMacro(node: MacroNode, context: Context): Outcome {
  const range = outcomeOf(node.range, context);
  const isBinding = node.macro === "bind" || node.macro === "with";
  const locals = new Map([
    ...context.locals,
    ...node.variables.map(({ name }) => [name, isBinding ? range : ANY] as const),
  ]);
  const bodies = node.bodies.map((body) => outcomeOf(body, { ...context, locals }));
  if (isBinding) return bodies[0] ?? ANY;
  const whole = strict([range]);
  return { ...whole, mayFail: whole.mayFail || bodies.some(({ mayFail }) => mayFail) };
}

/** Returns the header, claim or other data that a node reads; `undefined` if a request always has it. */
function dataOf(node: Node, checked: CheckedExpression): AbsentData | undefined {
  const { span } = node;
  const declared = checked.declarationOf(node)?.path;
  if (declared !== undefined) {
    const isOptional = node.kind !== "select" || node.isOptional || !OPTIONAL.test(declared);
    const [variable = ""] = declared.split(".");
    return isOptional ? undefined : { name: declared, test: `has(${declared})`, variable, span };
  }
  const isRead = node.kind === "select" || node.kind === "index";
  if (!isRead || node.isOptional) return undefined;
  const key = node.kind === "select" ? node.field : textOf(node.index);
  return key === undefined ? undefined : entryOf(node.operand, key, span, checked);
}

/** Returns the data that a node tests for, as in `AbsentData.test`. */
function testOf(node: Node, checked: CheckedExpression): string | undefined {
  if (node.kind === "presence") {
    const declared = checked.declarationOf(node)?.path;
    if (declared !== undefined) return `has(${declared})`;
    return entryOf(node.operand, node.field, node.span, checked)?.test;
  }
  if (node.kind !== "call" || node.name !== "in") return undefined;
  const [key, container] = node.args;
  const text = key === undefined ? undefined : textOf(key);
  if (text === undefined || container === undefined) return undefined;
  return entryOf(container, text, node.span, checked)?.test;
}

/** Returns an entry of the headers, or of the claims and other JSON of a request. */
function entryOf(
  operand: Node,
  key: string,
  span: Span,
  checked: CheckedExpression,
): AbsentData | undefined {
  const owner = checked.declarationOf(operand);
  if (owner === undefined) return undefined;
  const [variable = ""] = owner.path.split(".");
  if (owner.path === "request.headers") {
    const name = key.toLowerCase();
    const test = `"${name}" in request.headers`;
    return { name: `the header "${name}"`, test, variable, span };
  }
  if (owner.code?.isJsonRoot !== true) return undefined;
  const isName = /^[A-Za-z_]\w*$/.test(key);
  const name = isName ? `${owner.path}.${key}` : `${owner.path}[${JSON.stringify(key)}]`;
  const test = isName ? `has(${name})` : `${JSON.stringify(key)} in ${owner.path}`;
  return { name, test, variable, span };
}

/** Pattern of the gateway's variables that a request may lack. */
const OPTIONAL = /^(?:request\.body|source\.(?!address$|port$).+)$/;

function textOf(node: Node): string | undefined {
  return node.kind === "literal" && node.literal.kind === "string" ? node.literal.value : undefined;
}
