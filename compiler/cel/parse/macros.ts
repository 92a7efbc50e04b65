import type { CallNode, MacroName, MacroNode, MacroVariable, Node } from "./ast.ts";
import type { Problems } from "./problems.ts";

/** A form of a macro: the number of variables among its arguments, and of expressions after them. */
interface MacroForm {
  readonly macro: MacroName;
  readonly variables: 1 | 2;
  readonly bodies: 1 | 2;
}

/** Method macros by name; the number of arguments selects the form. */
const METHODS: ReadonlyMap<string, readonly MacroForm[]> = new Map(
  Object.entries({
    all: forms("all", [1, 1], [2, 1]),
    exists: forms("exists", [1, 1], [2, 1]),
    exists_one: forms("existsOne", [1, 1], [2, 1]),
    existsOne: forms("existsOne", [1, 1], [2, 1]),
    map: forms("map", [1, 1], [1, 2]),
    filter: forms("filter", [1, 1]),
    transformList: forms("transformList", [2, 1], [2, 2]),
    transformMap: forms("transformMap", [2, 1], [2, 2]),
    transformMapEntry: forms("transformMapEntry", [2, 1], [2, 2]),
    sortBy: forms("sortBy", [1, 1]),
    mapValues: forms("mapValues", [1, 1]),
    filterKeys: forms("filterKeys", [1, 1]),
    with: forms("with", [1, 1]),
    optMap: forms("optMap", [1, 1]),
    optFlatMap: forms("optFlatMap", [1, 1]),
  }),
);

/** Names of all macros, for suggestions and the reference. */
export const macroNames: readonly string[] = ["has", "bind", ...METHODS.keys()];

function forms(macro: MacroName, ...shapes: readonly (readonly [1 | 2, 1 | 2])[]): MacroForm[] {
  return shapes.map(([variables, bodies]) => ({ macro, variables, bodies }));
}

/** Returns the macro of a call; `undefined` for a plain call. */
export function macroOf(call: CallNode, problems: Problems): Node | undefined {
  if (!call.isMethod) return call.name === "has" ? presenceOf(call, problems) : undefined;
  const [target, ...args] = call.args;
  if (target === undefined) return undefined;
  if (call.name === "bind" && target.kind === "name" && target.name === "cel") {
    return bindOf(call, args, problems);
  }
  const count = args.length;
  const form = METHODS.get(call.name)?.find((each) => each.variables + each.bodies === count);
  if (form === undefined) return undefined;
  const variables = args.slice(0, form.variables).map((arg) => variableOf(arg, call, problems));
  return {
    kind: "macro",
    span: call.span,
    macro: form.macro,
    range: target,
    variables,
    bodies: args.slice(form.variables),
  };
}

function presenceOf(call: CallNode, problems: Problems): Node {
  const [argument] = call.args;
  if (call.args.length === 1 && argument?.kind === "select") {
    const { operand, field, fieldSpan } = argument;
    return { kind: "presence", span: call.span, operand, field, fieldSpan };
  }
  problems.report("cel-has-argument", argument?.span ?? call.span, {});
  return call;
}

function bindOf(call: CallNode, args: readonly Node[], problems: Problems): MacroNode | undefined {
  const [variable, init, body] = args;
  if (variable === undefined || init === undefined || body === undefined) return undefined;
  const variables = [variableOf(variable, call, problems)];
  return { kind: "macro", span: call.span, macro: "bind", range: init, variables, bodies: [body] };
}

function variableOf(arg: Node, call: CallNode, problems: Problems): MacroVariable {
  if (arg.kind === "name") return { name: arg.name, span: arg.span };
  problems.report("cel-macro-variable", arg.span, { macro: call.name });
  return { name: "", span: arg.span };
}
