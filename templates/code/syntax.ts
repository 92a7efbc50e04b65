import {
  type ArrowFunction,
  type BinaryExpression,
  type CallExpression,
  type ConditionalExpression,
  type ConstantType,
  type Expression,
  type HoistedConstant,
  type ListExpression,
  type LocalName,
  type MemberExpression,
  made,
  type Name,
  type NotExpression,
  type ObjectExpression,
  type Operator,
  type ValueExpression,
} from "./hole.ts";

/** Makes a parameter that is named later; each call makes a new one. */
export function local(proposal: string): LocalName {
  return { [made]: true, kind: "local", proposal };
}

/** Makes a constant of the module. */
export function constant(
  proposal: string,
  initializer: Expression,
  type?: ConstantType,
): HoistedConstant {
  return { [made]: true, kind: "constant", proposal, type, initializer };
}

/** Makes a literal. */
export function value(content: ValueExpression["value"]): ValueExpression {
  return { [made]: true, kind: "value", value: content };
}

/** `object.property`. */
export function member(object: Expression, property: string): MemberExpression {
  return { [made]: true, kind: "member", object, property, isOptional: false };
}

/** `object?.property`. */
export function optionalMember(object: Expression, property: string): MemberExpression {
  return { [made]: true, kind: "member", object, property, isOptional: true };
}

/** `callee(args)`. */
export function call(callee: Expression, args: readonly Expression[]): CallExpression {
  return { [made]: true, kind: "call", callee, args, isNew: false };
}

/** `new callee(args)`. */
export function construction(callee: Expression, args: readonly Expression[]): CallExpression {
  return { [made]: true, kind: "call", callee, args, isNew: true };
}

/** Operands with an operator between each two. */
export function binary(operator: Operator, operands: readonly Expression[]): BinaryExpression {
  return { [made]: true, kind: "binary", operator, operands };
}

/** `!operand`. */
export function negation(operand: Expression): NotExpression {
  return { [made]: true, kind: "not", operand };
}

/** `test ? consequent : alternate`. */
export function ternary(
  test: Expression,
  consequent: Expression,
  alternate: Expression,
): ConditionalExpression {
  return { [made]: true, kind: "conditional", test, consequent, alternate };
}

/** `(parameters) => body`. */
export function arrow(parameters: ArrowFunction["parameters"], body: Expression): ArrowFunction {
  return { [made]: true, kind: "arrow", parameters, body };
}

/** `[items]`. */
export function listExpression(items: readonly Expression[]): ListExpression {
  return { [made]: true, kind: "list", items };
}

/** `{ key: value }`. */
export function objectExpression(entries: ObjectExpression["entries"]): ObjectExpression {
  return { [made]: true, kind: "object", entries };
}

/** Returns the subexpressions of an expression, in the order of the source. */
function partsOfExpression(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "member":
      return [expression.object];
    case "call":
      return [expression.callee, ...expression.args];
    case "binary":
      return expression.operands;
    case "not":
      return [expression.operand];
    case "conditional":
      return [expression.test, expression.consequent, expression.alternate];
    case "arrow":
      return [...expression.parameters, expression.body];
    case "list":
      return expression.items;
    case "object":
      return expression.entries.map(([, each]) => each);
    case "code":
    case "literal":
    case "extension":
    case "name":
    case "import":
    case "local":
    case "constant":
    case "value":
      return [];
  }
}

/** Iterates over the expression and its descendants, without initializers of constants. */
export function* nodesOf(expression: Expression): Generator<Expression> {
  // Uses a stack: nested generators take quadratic time in the depth.
  const rest = [expression];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    yield node;
    for (const part of partsOfExpression(node).toReversed()) rest.push(part);
  }
}

/** Renames locals and constants in an expression. */
export function renamed(
  expression: Expression,
  rename: (reference: LocalName | HoistedConstant) => LocalName | HoistedConstant | Name,
): Expression {
  const change = (each: Expression) => renamed(each, rename);
  switch (expression.kind) {
    case "local":
    case "constant":
      return rename(expression);
    case "member":
      return { ...expression, object: change(expression.object) };
    case "call":
      return {
        ...expression,
        callee: change(expression.callee),
        args: expression.args.map(change),
      };
    case "binary":
      return { ...expression, operands: expression.operands.map(change) };
    case "not":
      return negation(change(expression.operand));
    case "conditional":
      return ternary(
        change(expression.test),
        change(expression.consequent),
        change(expression.alternate),
      );
    case "arrow":
      return arrow(
        expression.parameters.map((parameter) => {
          const other = parameter.kind === "local" ? rename(parameter) : parameter;
          if (other.kind === "constant") throw new Error("a parameter is no constant");
          return other;
        }),
        change(expression.body),
      );
    case "list":
      return listExpression(expression.items.map(change));
    case "object":
      return objectExpression(expression.entries.map(([key, each]) => [key, change(each)]));
    case "code":
    case "literal":
    case "extension":
    case "name":
    case "import":
    case "value":
      return expression;
  }
}
