import * as collections from "../../../runtime/cel/collections/collections.ts";
import * as comprehensions from "../../../runtime/cel/collections/comprehensions.ts";
import * as entries from "../../../runtime/cel/collections/entries.ts";
import * as lists from "../../../runtime/cel/collections/lists.ts";
import * as maps from "../../../runtime/cel/collections/maps.ts";
import * as effects from "../../../runtime/cel/functions/effects.ts";
import * as encoders from "../../../runtime/cel/functions/encoders.ts";
import * as format from "../../../runtime/cel/functions/format.ts";
import * as http from "../../../runtime/cel/functions/http.ts";
import * as json from "../../../runtime/cel/functions/json.ts";
import * as math from "../../../runtime/cel/functions/math.ts";
import * as net from "../../../runtime/cel/functions/net.ts";
import * as pattern from "../../../runtime/cel/functions/pattern.ts";
import * as strings from "../../../runtime/cel/functions/strings.ts";
import * as webTexts from "../../../runtime/cel/functions/web-texts.ts";
import * as time from "../../../runtime/cel/time/time.ts";
import * as compare from "../../../runtime/cel/values/compare.ts";
import * as convert from "../../../runtime/cel/values/convert.ts";
import * as logic from "../../../runtime/cel/values/logic.ts";
import * as numbers from "../../../runtime/cel/values/numbers.ts";
import * as optional from "../../../runtime/cel/values/optional.ts";
import * as select from "../../../runtime/cel/values/select.ts";
import * as types from "../../../runtime/cel/values/types.ts";
import * as values from "../../../runtime/cel/values/values.ts";
import { Expressions } from "../../../templates/code/expression.ts";
import type { Expression, ImportSymbol, ValueExpression } from "../../../templates/code/hole.ts";
import { printText } from "../../../templates/code/print.ts";
import { nodesOf } from "../../../templates/code/syntax.ts";

/** Modules of the runtime: emitted code has the same behavior at build time and at run time. */
const MODULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "collections/collections": collections,
  "values/compare": compare,
  "collections/comprehensions": comprehensions,
  "values/convert": convert,
  "functions/effects": effects,
  "functions/encoders": encoders,
  "collections/entries": entries,
  "functions/format": format,
  "functions/http": http,
  "functions/json": json,
  "collections/lists": lists,
  "values/logic": logic,
  "collections/maps": maps,
  "functions/math": math,
  "functions/net": net,
  "values/numbers": numbers,
  "values/optional": optional,
  "functions/pattern": pattern,
  "values/select": select,
  "functions/strings": strings,
  "functions/web-texts": webTexts,
  "time/time": time,
  "values/types": types,
  "values/values": values,
};

/** Creates a function from emitted code that maps variables by name to the value, or to undefined. */
export function functionOf(
  code: Expression,
  variables: readonly string[],
): (input: Readonly<Record<string, unknown>>) => unknown {
  const expressions = new Expressions();
  const result = expressions.use(code);
  const { constants } = expressions;
  const imports = new Map<string, unknown>();
  for (const part of [...constants.map(({ initializer }) => initializer), result]) {
    for (const node of nodesOf(part)) {
      if (node.kind === "import") imports.set(node.name, resolve(node));
    }
  }
  const literals: ValueExpression["value"][] = [];
  const declarations = constants.map(
    ({ name, initializer }) => `const ${name.text} = ${shapeText(initializer, literals)};`,
  );
  const input = variables.length === 0 ? "" : `{ ${variables.join(", ")} }`;
  const body = `${declarations.join("\n")}\nreturn (${input}) => (${shapeText(result, literals)});`;
  const make = makerOf([...imports.keys(), ...literals.keys().map((at) => `$${at}`)], body);
  return make(...imports.values(), ...literals);
}

/** Cache of functions by parameters and code: rules of many routes differ only in names. */
const makers = new Map<string, ReturnType<FunctionConstructor>>();

/** Maximum size of the cache: a controller compiles for months. */
const MAX_MAKERS = 2_000;

function makerOf(parameters: readonly string[], body: string): ReturnType<FunctionConstructor> {
  const key = `${parameters.join()}\n${body}`;
  const known = makers.get(key);
  if (known !== undefined) return known;
  // Emitted code without type annotations is plain JavaScript, and contains no text of the user.
  const made = new Function(...parameters, body);
  if (makers.size >= MAX_MAKERS) makers.clear();
  makers.set(key, made);
  return made;
}

/** Conversions of runtime values, for writing folded values as literals. */
export const { doubleOf, kindOf, numberOf } = values;

/** Formats runtime values for display. */
export const { toText } = convert;
/** Formats a string as a CEL literal. */
export const { quote } = strings;
/** Returns the entries of a map. */
export const { entriesOf } = entries;

/** Returns the name of a value's type: `int`, `google.protobuf.Timestamp`. */
export function typeNameOf(value: unknown): string {
  return types.typeOf(value)?.name ?? "error";
}

function resolve({ module, name }: ImportSymbol): unknown {
  const found = MODULES[module.replace("gwc/runtime/cel/", "")]?.[name];
  if (found === undefined) throw new Error(`the runtime has no ${module}#${name}`);
  return found;
}

/**
 * Returns an expression as code to run: literals become `$0`, `$1` ..., and their values are appended to `literals`.
 * Expressions that only differ in literals have the same code, so that it is compiled once.
 */
function shapeText(node: Expression, literals: ValueExpression["value"][]): string {
  const text = (each: Expression) => shapeText(each, literals);
  const operand = (each: Expression) => (isOperation(each) ? `(${text(each)})` : text(each));
  switch (node.kind) {
    case "value":
      return `$${literals.push(node.value) - 1}`;
    case "member": {
      const object = operand(node.object);
      const dot = node.isOptional ? "?." : "";
      return `${object}${dot}[${JSON.stringify(node.property)}]`;
    }
    case "call":
      return `${node.isNew ? "new " : ""}${operand(node.callee)}(${node.args.map(text).join(",")})`;
    case "binary":
      return node.operands.map(operand).join(node.operator);
    case "not":
      return `!${operand(node.operand)}`;
    case "conditional":
      return `${operand(node.test)}?${operand(node.consequent)}:${operand(node.alternate)}`;
    case "arrow":
      return `(${node.parameters.map(text).join(",")})=>(${text(node.body)})`;
    case "list":
      return `[${node.items.map(text).join(",")}]`;
    case "object": {
      // In brackets any key is a plain key, including `__proto__`.
      const entries = node.entries.map(([key, each]) => `[${JSON.stringify(key)}]:${text(each)}`);
      return `{${entries.join(",")}}`;
    }
    case "name":
      return node.text;
    case "import":
      return node.name;
    case "local":
    case "constant":
      throw new Error(`"${node.proposal}" was not named`);
    case "code":
    case "literal":
    case "extension":
      return printText(node);
  }
}

/** Whether an expression needs parentheses next to an operator. */
function isOperation({ kind }: Expression): boolean {
  return kind === "binary" || kind === "conditional" || kind === "arrow";
}
