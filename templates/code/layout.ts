import {
  areFunctionsComposed,
  isAlwaysBroken,
  isFilledLiteral,
  isHugged,
  isTable,
  numbersIn,
  startsWithObject,
} from "./broken-lines.ts";
import {
  brokenGroup,
  brokenOnly,
  filled,
  firstThatFits,
  group,
  indented,
  join,
  LINE,
  pieces,
  SOFT,
} from "./code.ts";
import type {
  ArrowFunction,
  BinaryExpression,
  CallExpression,
  Code,
  ConditionalExpression,
  Expression,
  Hole,
  ListExpression,
  MemberExpression,
  ObjectExpression,
  Operator,
  Piece,
} from "./hole.ts";
import { isIdentifier } from "./names.ts";
import { isFlattened, isLogical, needsParentheses } from "./precedence.ts";
import { asciiLiteral, propertyName } from "./quote.ts";
import { nodesOf } from "./syntax.ts";
import { textOf, withoutLongText } from "./value-text.ts";

/** Position of an expression, as far as its line breaks depend on it. */
export type ExpressionPlace =
  /** After `return`. */
  | "return"
  /** Between the parentheses of `if`. */
  | "condition"
  /** After `=` or the colon of a property. */
  | "assignment"
  /** Between the parentheses of a call, the brackets of a list, or around an operand. */
  | "operand"
  /** After `=>`. */
  | "body"
  /** Between parentheses that have lines of their own. */
  | "alone";

/** Layouts by expression: the forms of a nested call contain its arguments several times. */
const layouts = new WeakMap<Expression, Map<ExpressionPlace, Hole>>();

/** Lays out an expression at its position, with the line breaks of `biome format`. */
export function laidOut(expression: Expression, place: ExpressionPlace): Hole {
  const known = layouts.get(expression) ?? new Map<ExpressionPlace, Hole>();
  layouts.set(expression, known);
  const layout = known.get(place) ?? layoutOf(expression, place);
  known.set(place, layout);
  return layout;
}

function layoutOf(expression: Expression, place: ExpressionPlace): Hole {
  const node = withoutLongText(expression);
  switch (node.kind) {
    case "binary":
      return binaryAt(node, place);
    case "conditional":
      return place === "return" || place === "assignment" || place === "operand"
        ? group(conditionalParts(node, place))
        : group(conditionalParts(node, "alone"));
    case "value":
      return pieces([textOf(node)]);
    case "member":
      return memberOf(node, false);
    case "call":
      return callOf(node);
    case "not":
      return node.operand.kind === "conditional"
        ? pieces(["!(", laidOut(node.operand, "alone"), ")"])
        : pieces(["!", parenthesized(node.operand, isWeak)]);
    case "arrow":
      return arrowOf(node);
    case "list":
      return listOf(node);
    case "object":
      return objectOf(node);
    case "local":
    case "constant":
      throw new Error(`"${node.proposal}" was not named`);
    case "code":
    case "literal":
    case "extension":
    case "name":
    case "import":
      return node;
  }
}

/** Lays out `return expression;`. */
export function returned(expression: Expression): Code {
  return pieces(["return ", laidOut(expression, "return"), ";"]);
}

/** Lays out `start = expression` or `key: expression`; `start` ends with the `=` or the colon. */
export function assigned(start: Piece, expression: Expression, isShortKey = false): Hole {
  const node = withoutLongText(expression);
  const laid = laidOut(node, "assignment");
  return breaksAfterOperator(node, isShortKey)
    ? group(start, indented(LINE, laid))
    : pieces([start, " ", laid]);
}

/** Lays out `(a || b)`; the parentheses have lines of their own if `needsThem`. */
function parenthesized(operand: Expression, needsThem: (operand: Expression) => boolean): Hole {
  const node = withoutLongText(operand);
  if (!needsThem(node)) return laidOut(node, "operand");
  return pieces(["(", group(indented(SOFT, laidOut(node, "alone")), SOFT), ")"]);
}

/** Returns whether an operand of `!`, or the object of a property, needs parentheses. */
function isWeak({ kind }: Expression): boolean {
  return kind === "binary" || kind === "conditional" || kind === "arrow";
}

function binaryAt(node: BinaryExpression, place: ExpressionPlace, parent?: Operator): Hole {
  const isGrouped = isComparisonAlone(node, place, parent);
  const [head = "", ...rest] = chain(node, isGrouped);
  switch (place) {
    case "condition":
      return pieces([head, ...rest]);
    case "return":
      return group(brokenOnly("("), indented(SOFT, group(head, ...rest)), SOFT, brokenOnly(")"));
    case "assignment":
    case "body":
    case "alone":
      return group(head, ...rest);
    case "operand":
      return group(head, indented(...rest));
  }
}

/** Returns whether an operator stays on the line on which its first operand ends, if it fits. */
function isComparisonAlone(
  node: BinaryExpression,
  place: ExpressionPlace,
  parent: Operator | undefined,
): boolean {
  const isLogic = isLogical(node.operator);
  const isSameKind = (operator: Operator) => isLogical(operator) === isLogic;
  if (place === "condition" && isLogic) return false;
  if (node.operands.length > 2 || (parent !== undefined && isSameKind(parent))) return false;
  return node.operands.every((each) => {
    const operand = withoutLongText(each);
    return operand.kind !== "binary" || !isSameKind(operand.operator);
  });
}

/** Lays out the operands of a chain; from the second on with their operator and the break before them. */
function chain({ operator, operands }: BinaryExpression, isGrouped: boolean): readonly Hole[] {
  return operands.flatMap((operand, at): readonly Hole[] => {
    const node = withoutLongText(operand);
    if (at === 0 && node.kind === "binary" && isFlattened(operator, node.operator)) {
      return chain(node, false);
    }
    const plain =
      node.kind === "binary" ? binaryAt(node, "operand", operator) : laidOut(node, "operand");
    const laid = needsParentheses(node, operator, at === 0) ? pieces(["(", plain, ")"]) : plain;
    if (at === 0) return [group(laid)];
    const isInline = isLogical(operator) && isFilledLiteral(node);
    const parts = [operator, isInline ? " " : LINE, laid];
    return [pieces([" ", isGrouped ? group(...parts) : pieces(parts)])];
  });
}

function conditionalParts(
  { test, consequent, alternate }: ConditionalExpression,
  place: "return" | "assignment" | "operand" | "alone",
): Code {
  const isTestWeak = test.kind === "conditional" || test.kind === "arrow";
  const testPlace = place === "return" || place === "operand" ? "operand" : "alone";
  const condition = isTestWeak
    ? pieces(["(", laidOut(test, "alone"), ")"])
    : laidOut(test, testPlace);
  const inner =
    consequent.kind === "conditional"
      ? pieces([brokenOnly("", "("), conditionalParts(consequent, "alone"), brokenOnly("", ")")])
      : indented(laidOut(consequent, "operand"));
  const last =
    alternate.kind === "conditional"
      ? conditionalParts(alternate, "alone")
      : indented(laidOut(alternate, "operand"));
  return pieces([condition, indented(LINE, "? ", inner, LINE, ": ", last)]);
}

/** Lays out `a.b?.c`, which breaks before its properties if it is long. */
function memberOf({ object, property, isOptional }: MemberExpression, isInner: boolean): Hole {
  const start =
    object.kind === "member" ? memberOf(object, true) : parenthesized(object, isWeakObject);
  if (!isIdentifier(property)) {
    return pieces([start, isOptional ? "?.[" : "[", asciiLiteral(property), "]"]);
  }
  const lookup = `${isOptional ? "?." : "."}${property}`;
  const isInline = object.kind !== "member" && !isInner;
  return pieces([start, isInline ? lookup : group(indented(SOFT, lookup))]);
}

/** Returns whether the object of a property needs parentheses: after a number, the dot would be parsed as a part of it. */
function isWeakObject(object: Expression): boolean {
  return isWeak(object) || (object.kind === "value" && typeof object.value !== "string");
}

function callOf({ callee, args, isNew }: CallExpression): Hole {
  const start = pieces([isNew ? "new " : "", calleeOf(callee)]);
  if (args.length === 0) return pieces([start, "()"]);
  const laid = args.map((arg) => laidOut(arg, "operand"));
  const brokenOut = (form: typeof group) =>
    form("(", indented(SOFT, join(laid, pieces([",", LINE])), brokenOnly(",")), SOFT, ")");
  if (areFunctionsComposed(args)) return pieces([start, brokenOut(brokenGroup)]);
  const last = args.at(-1);
  const isForced = args.slice(0, -1).some((arg) => [...nodesOf(arg)].some(isAlwaysBroken));
  if (last === undefined || isForced || !isHugged(args, last))
    return pieces([start, brokenOut(group)]);
  const before = laid.slice(0, -1).flatMap((each): readonly Hole[] => [each, pieces([", "])]);
  const hugged = last.kind === "arrow" ? huggedArrow(last) : laid.at(-1);
  const [flat = [], expanded = []] = [hugged, hugged === undefined ? [] : expandedForm(last)];
  return pieces([
    start,
    firstThatFits([
      pieces(["(", ...before, flat, ")"]),
      pieces(["(", ...before, expanded, ")"]),
      brokenOut(brokenGroup),
    ]),
  ]);
}

/** Lays out the callee; the name of a method stays on the line of its object. */
function calleeOf(callee: Expression): Hole {
  if (callee.kind !== "member") return laidOut(callee, "operand");
  const { object, property, isOptional } = callee;
  const start = object.kind === "member" ? calleeOf(object) : parenthesized(object, isWeakObject);
  return pieces([start, isOptional ? "?." : ".", property]);
}

function expandedForm(node: Expression): Hole {
  switch (node.kind) {
    case "arrow":
      return huggedArrow(node, brokenGroup);
    case "list":
      return listOf(node, brokenGroup);
    case "object":
      return objectOf(node, brokenGroup);
    default:
      return laidOut(node, "operand");
  }
}

function arrowOf({ parameters, body }: ArrowFunction): Hole {
  const head = pieces(["(", join(parameters.map(nameOf), ", "), ") =>"]);
  if (body.kind === "list") return group(head, " ", laidOut(body, "body"));
  if (startsWithObject(body)) return group(head, " (", laidOut(body, "body"), ")");
  return group(head, group(indented(LINE, arrowBody(body))));
}

/** Lays out an arrow function that is the last argument and starts on the line of the call. */
function huggedArrow({ parameters, body }: ArrowFunction, form: typeof group = group): Hole {
  const head = pieces(["(", join(parameters.map(nameOf), ", "), ") =>"]);
  if (body.kind === "list") return pieces([head, " ", listOf(body, form)]);
  if (body.kind === "object") return pieces([head, " (", objectOf(body, form), ")"]);
  return form(head, group(indented(LINE, arrowBody(body)), brokenOnly(","), SOFT));
}

function arrowBody(body: Expression): Hole {
  return body.kind === "conditional"
    ? pieces([brokenOnly("", "("), laidOut(body, "body"), brokenOnly("", ")")])
    : laidOut(body, "body");
}

function nameOf(parameter: ArrowFunction["parameters"][number]): Hole {
  return laidOut(parameter, "operand");
}

function listOf(node: ListExpression, form: typeof group = group): Hole {
  const { items } = node;
  if (items.length === 0) return pieces(["[]"]);
  const laid = items.map((item) => laidOut(item, "operand"));
  const numbers = numbersIn(node);
  const content = numbers === undefined ? join(laid, pieces([",", LINE])) : filled(numbers);
  const chosen = isTable(node) ? brokenGroup : form;
  return chosen("[", indented(SOFT, content, brokenOnly(",")), SOFT, "]");
}

function objectOf({ entries }: ObjectExpression, form: typeof group = group): Hole {
  if (entries.length === 0) return pieces(["{}"]);
  const properties = entries.map(([key, each]) => propertyOf(key, each));
  const content = join(properties, pieces([",", LINE]));
  return form("{", indented(LINE, content, brokenOnly(",")), LINE, "}");
}

/** Keys shorter than this are on the line of their value. */
const SHORT_KEY = 5;

/** Lays out `key: value` of an object literal. */
export function propertyOf(key: string, each: Expression): Hole {
  const name = propertyName(key, asciiLiteral);
  return assigned(`${name}:`, each, name.length < SHORT_KEY);
}

/** Returns whether a long expression starts on the line after the `=` or the colon. */
function breaksAfterOperator(node: Expression, isShortKey: boolean): boolean {
  switch (node.kind) {
    case "binary":
      return !isFilledLiteral(node.operands.at(-1) ?? node);
    case "conditional":
      return node.test.kind === "binary";
    case "value":
      return typeof node.value === "string" && !isShortKey;
    case "member":
      return !isShortKey;
    default:
      return false;
  }
}
