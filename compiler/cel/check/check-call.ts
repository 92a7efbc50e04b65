import { suggest } from "../../diagnostics/suggestion.ts";
import type { FunctionDeclaration } from "../functions/declaration.ts";
import { functionNamed, functionNames, operatorNamed } from "../functions/index.ts";
import { operatorNames } from "../functions/operators.ts";
import { type CallNode, dottedName, type Node, type Span } from "../parse/ast.ts";
import { macroNames } from "../parse/macros.ts";
import { checkPattern } from "../regex/check-pattern.ts";
import type { Overload } from "../types/signature.ts";
import { BOOL, DYN, ERROR, formatType, isSameType, type Type } from "../types/types.ts";
import type { Checker } from "./checker.ts";

/** Returns the type of a call, and records the overloads that its arguments may match. */
export function checkCall(checker: Checker, node: CallNode): Type {
  const dashed = dashedField(node, (name) => checker.isVariable(name));
  if (dashed !== undefined) {
    const { name, span, owner } = dashed;
    checker.problems.report("cel-dashed-field", span, { name, owner: dottedName(owner) });
    return ERROR;
  }
  const namespaced = namespacedName(checker, node);
  const declaration = declarationOf(node, namespaced);
  const { args, types } = checkedArguments(checker, node, namespaced);
  if (declaration === undefined) {
    reportUnknown(checker, node, namespaced);
    return ERROR;
  }
  const isMethod = node.isMethod && namespaced === undefined;
  const overloads = declaration.overloads.filter((overload) => overload.isMethod === isMethod);
  const { fitting, result } = resolve(checker, overloads, types);
  checker.nodes.resolveCall(node, { declaration, overloads: fitting, args });
  if (PATTERN_FUNCTIONS.has(declaration.name)) checkPatternArgument(checker, args[1]);
  checkLiterals(checker, node);
  if (fitting.length > 0) return result;
  const lenient = lenientResult(checker, node, types);
  if (lenient !== undefined) return lenient;
  if (!types.some((type) => type.kind === "error")) {
    reportMismatch(checker, node, declaration, types, isMethod);
  }
  return ERROR;
}

interface CheckedArguments {
  readonly args: readonly Node[];
  readonly types: readonly Type[];
}

function checkedArguments(
  checker: Checker,
  node: CallNode,
  namespaced: string | undefined,
): CheckedArguments {
  const args = namespaced === undefined ? node.args : node.args.slice(1);
  const types = args.map((arg) => checker.checkValue(arg));
  const hasDouble = types.some((type) => checker.resolved(type).kind === "double");
  if (!hasDouble || !ARITHMETIC.has(node.name)) return { args, types };
  const doubles = args.map(asDouble);
  return { args: doubles, types: doubles.map((arg) => checker.checkValue(arg)) };
}

/** Operators whose integer literal next to a double is a double: `llm.cost.total * 1000000`. */
const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/"]);

function asDouble(node: Node): Node {
  if (node.kind !== "literal" || node.literal.kind !== "int") return node;
  return { ...node, literal: { kind: "double", value: Number(node.literal.value) } };
}

/** Returns `math.abs` for a call of a function in a namespace, whose target is a name but not a variable. */
function namespacedName(checker: Checker, node: CallNode): string | undefined {
  if (!node.isMethod) return undefined;
  const [target] = node.args;
  if (target?.kind !== "name") return undefined;
  if (checker.isVariable(target.name)) return undefined;
  const name = `${target.name}.${node.name}`;
  const isNamespace = functionNames().some((known) => known.startsWith(`${target.name}.`));
  return isNamespace ? name : undefined;
}

/** Functions whose second argument is a pattern. */
const PATTERN_FUNCTIONS: ReadonlySet<string> = new Set(["matches", "regexReplace"]);

/** Checks a literal pattern at build time; its mistakes are marked inside the literal. */
function checkPatternArgument(checker: Checker, node: Node | undefined): void {
  if (node?.kind !== "literal" || node.literal.kind !== "string") return;
  const { offsets = [], span } = node;
  for (const problem of checkPattern(node.literal.value)) {
    const [start, end] = problem.within;
    const within: Span = [offsets[start] ?? span[0], offsets[end] ?? span[1]];
    checker.problems.add({ ...problem, within });
  }
}

function declarationOf(
  node: CallNode,
  namespaced: string | undefined,
): FunctionDeclaration | undefined {
  if (namespaced !== undefined) return functionNamed(namespaced);
  const operator = operatorNames.get(node.name);
  if (operator === undefined) return functionNamed(node.name);
  return operatorNamed(node.name === "-" && node.args.length === 1 ? "negate" : operator);
}

/** Finds the overloads whose parameters match the arguments. If their results differ, the type is `dyn`. */
function resolve(
  checker: Checker,
  overloads: readonly Overload[],
  types: readonly Type[],
): { readonly fitting: readonly Overload[]; readonly result: Type } {
  const fitting: Overload[] = [];
  let result: Type | undefined;
  for (const overload of overloads) {
    const [own = DYN, ...params] = checker.instantiate([overload.result, ...overload.params]);
    if (!checker.fits(types, params)) continue;
    fitting.push(overload);
    const given = checker.resolved(own);
    if (result === undefined) result = given;
    else if (!isSameType(result, given)) result = DYN;
  }
  return { fitting, result: result ?? ERROR };
}

/** Returns the type of equality and membership, which accept any types: values of different types are not equal. */
function lenientResult(checker: Checker, node: CallNode, types: readonly Type[]): Type | undefined {
  const [left, right] = types;
  if (left === undefined || right === undefined) return undefined;
  if (node.name === "==" || node.name === "!=") {
    if (!checker.isNumeric(left, right)) {
      checker.problems.report("cel-never-equal", node.span, {
        left: checker.format(left),
        right: checker.format(right),
        result: node.name === "==" ? "false" : "true",
        meant: nameField(checker, node),
      });
    }
    return BOOL;
  }
  if (node.name !== "in") return undefined;
  const container = checker.resolved(right);
  return container.kind === "list" || container.kind === "map" ? BOOL : undefined;
}

/** Returns the `name` field of a value that is compared with a string, if it has one. */
function nameField(checker: Checker, { args }: CallNode): string | undefined {
  const names = args.flatMap((arg) => {
    const path = checker.nodes.declarationOf(arg)?.path;
    return path === undefined ? [] : [`${path}.name`];
  });
  const isText = args.some((arg) => arg.kind === "literal" && arg.literal.kind === "string");
  return isText ? names.find((name) => checker.environment.declarations.has(name)) : undefined;
}

function reportUnknown(checker: Checker, node: CallNode, namespaced: string | undefined): void {
  const name = namespaced ?? node.name;
  const suggestion = suggest(name, [...functionNames(), ...macroNames]);
  const advice = FOREIGN_FUNCTIONS.get(node.name);
  checker.problems.report("cel-unknown-function", node.nameSpan, { name, suggestion, advice });
}

/** Maximum number of overloads in a message. */
const MAX_CANDIDATES = 6;

function reportMismatch(
  checker: Checker,
  node: CallNode,
  declaration: FunctionDeclaration,
  types: readonly Type[],
  isMethod: boolean,
): void {
  const names = types.map((type) => checker.format(type));
  // Prefers overloads whose first parameter matches.
  const near = declaration.overloads.filter(({ params: [first] }) => {
    return first !== undefined && types[0] !== undefined && first.kind === types[0].kind;
  });
  const shown = near.length > 0 ? near : declaration.overloads;
  const forms = shown.map(({ params, isMethod: hasReceiver }) =>
    writeCall(node, declaration, params.map(formatType), hasReceiver),
  );
  const candidates = [
    ...forms.slice(0, MAX_CANDIDATES),
    ...(forms.length > MAX_CANDIDATES ? ["…"] : []),
  ];
  checker.problems.report("cel-no-overload", node.span, {
    call: writeCall(node, declaration, names, isMethod),
    candidates: candidates.join(", "),
  });
}

/** Formats a call with types: `string.startsWith(int)`, `int + string`. */
function writeCall(
  node: CallNode,
  declaration: FunctionDeclaration,
  types: readonly string[],
  isMethod: boolean,
): string {
  if (operatorNames.has(node.name)) {
    return types.length === 1 ? `${node.name}${types[0]}` : types.join(` ${node.name} `);
  }
  if (!isMethod) return `${declaration.name}(${types.join(", ")})`;
  return `${types[0]}.${declaration.name}(${types.slice(1).join(", ")})`;
}

/** Functions of other languages by name, and their equivalents in CEL. */
const FOREIGN_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["includes", 'for an item of a list use `"x" in list`, for a substring `text.contains("x")`'],
  ["has_key", 'use `"x" in map` to find a key'],
  ["hasOwnProperty", 'use `"x" in map` to find a key'],
  ["get", 'use `map["x"]` to read a value'],
  ["length", "use `value.size()` for a length"],
  ["len", "use `size(value)` for a length"],
  ["count", "use `size(value)` for a length"],
  ["toLowerCase", "use `text.lowerAscii()` for lower case"],
  ["lower", "use `text.lowerAscii()` for lower case"],
  ["toUpperCase", "use `text.upperAscii()` for upper case"],
  ["upper", "use `text.upperAscii()` for upper case"],
  ["equals", "use `==` for equality"],
  ["test", 'use `text.matches("pattern")` to match a pattern'],
  ["match", 'use `text.matches("pattern")` to match a pattern'],
  ["regex", 'use `text.matches("pattern")` to match a pattern'],
  ["variables", "name the variables that the expression needs"],
  ["unredacted", "leave it out: values of expressions are complete"],
  ["raw", 'use `request.headers["x"].split()` for the members of a header'],
  ["now", "use `request.startTime` for the time of a request"],
  ["some", "use `list.exists(x, x > 1)` to test for an item"],
  ["any", "use `list.exists(x, x > 1)` to test for an item"],
  ["every", "use `list.all(x, x > 1)` to test all items"],
]);

/** A field name with `-` after a dot: CEL parses `request.headers.x-user` as a subtraction. */
interface DashedField {
  /** Complete name: `x-user`. */
  readonly name: string;
  readonly span: Span;
  /** Node that the field should belong to. */
  readonly owner: Node;
}

/** Returns the dashed field that a subtraction means: it has no spaces, and a part of it is not a variable. */
function dashedField(node: Node, isVariable: (name: string) => boolean): DashedField | undefined {
  const parts: string[] = [];
  let end = node.span[1];
  let left = node;
  while (left.kind === "call" && left.name === "-" && !left.isMethod && left.args.length === 2) {
    const [before, after] = left.args;
    const word = after && firstName(after);
    if (before === undefined || word === undefined) return undefined;
    const [start, next] = left.nameSpan;
    if (before.span[1] !== start || word.span[0] !== next) return undefined;
    if (parts.length === 0) end = word.span[1];
    parts.unshift(word.name);
    left = before;
  }
  if (left.kind !== "select" || parts.every(isVariable)) return undefined;
  const { field, fieldSpan, operand: owner } = left;
  return { name: [field, ...parts].join("-"), span: [fieldSpan[0], end], owner };
}

/** Returns the name that a node begins with: `user` in `user.startsWith("a")`. */
function firstName(node: Node): Extract<Node, { kind: "name" }> | undefined {
  switch (node.kind) {
    case "name":
      return node;
    case "select":
    case "index":
      return firstName(node.operand);
    case "call":
      return node.isMethod && node.args[0] !== undefined ? firstName(node.args[0]) : undefined;
    default:
      return undefined;
  }
}

/** A word with `*` at its start or end, as patterns of other tools have it; `*` alone and media ranges are values. */
const WILDCARD = /^(?:\*(?=[./:-]*\w)[\w./:-]+|(?=[./:-]*\w)[\w./:-]+\*|\/[\w./:-]*\*)$/;

/**
 * Reports literals that mean something else in other languages: `request.path == "/api/*"` compares with a star, and
 * `jwt.roles.contains("admin")` is an error if the claim is a list.
 */
function checkLiterals(checker: Checker, node: CallNode): void {
  const [left, right] = node.args;
  if (left === undefined || right === undefined) return;
  if (node.name === "==" || node.name === "!=") {
    const not = node.name === "!=" ? "!" : "";
    checkWildcard(checker, left, right, not);
    checkWildcard(checker, right, left, not);
  } else if (node.name === "contains" && node.isMethod)
    checkListOfClaim(checker, left, right, node);
}

function checkWildcard(checker: Checker, value: Node, literal: Node, not: "" | "!"): void {
  if (literal.kind !== "literal" || literal.literal.kind !== "string") return;
  const text = literal.literal.value;
  // Values of headers and claims may contain a star.
  if (checker.nodes.declarationOf(value)?.path === undefined || !WILDCARD.test(text)) return;
  const name = dottedName(value) ?? "value";
  checker.problems.report("cel-literal-star", literal.span, {
    instead: text.endsWith("*")
      ? `${not}${name}.startsWith("${text.slice(0, -1)}")`
      : `${not}${name}.endsWith("${text.slice(1)}")`,
  });
}

/** Notes `contains` on a claim whose name is a plural: identity providers send lists in it. */
function checkListOfClaim(checker: Checker, value: Node, item: Node, node: CallNode): void {
  const name = dottedName(value);
  const isPlural = value.kind === "select" && /[^s]s$/.test(value.field);
  if (!isPlural || name === undefined || item.kind !== "literal") return;
  if (checker.resolved(checker.nodes.typeOf(value)).kind !== "dyn") return;
  if (item.literal.kind !== "string") return;
  checker.problems.report("cel-list-contains", node.span, {
    name,
    instead: `"${item.literal.value}" in ${name}`,
  });
}
