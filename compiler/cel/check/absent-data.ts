import { childrenOf, type MacroNode, type Node, type Span } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/** Something that a request need not have, as an expression reads it. */
export interface AbsentData {
  /** What it is called: `the header "x-id"`, `jwt.role`. */
  readonly name: string;
  /** The expression that asks for it: `has(jwt.role)`. */
  readonly test: string;
  /** The variable that it belongs to: `jwt`. */
  readonly variable: string;
  /** Where it is read first. */
  readonly span: Span;
}

/** The data without which an expression may fail, though all else is there: what each `has()` or `in` did not ask for. */
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

/** Of more data than this, the rest is not looked at. */
const MAX_DATA = 50;

/** What a node may come to: a bool of either kind, or an error. A value that is no bool may be either. */
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
  /** What is absent, by the expression that asks for it. */
  readonly test: string;
  /** What the variables of bindings may come to. */
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

/** `a && b`: an error only where none is false. */
function both(parts: readonly Outcome[]): Outcome {
  return {
    mayHold: parts.every(({ mayHold }) => mayHold),
    mayNot: parts.some(({ mayNot }) => mayNot),
    mayFail:
      parts.some(({ mayFail }) => mayFail) &&
      parts.every(({ mayHold, mayFail }) => mayHold || mayFail),
  };
}

/** What fails where a part does. */
function strict(parts: readonly Outcome[]): Outcome {
  const mustFail = parts.some(({ mayHold, mayNot }) => !mayHold && !mayNot);
  return mustFail ? FAILS : { ...ANY, mayFail: parts.some(({ mayFail }) => mayFail) };
}

/** `default(a, b)`: the first that is no error. */
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

/** The header, claim or other data that a node reads; undefined for one that a request always has. */
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

/** The data whose presence a node asks for, as `AbsentData.test`. */
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

/** An entry of the headers, or of the claims and other JSON that came with a request. */
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

/** What a request may lack of the gateway's own variables. */
const OPTIONAL = /^(?:request\.body|source\.(?!address$|port$).+)$/;

function textOf(node: Node): string | undefined {
  return node.kind === "literal" && node.literal.kind === "string" ? node.literal.value : undefined;
}
