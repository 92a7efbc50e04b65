import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../../compiler/model/expressions.ts";
import { code, comment, join, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import { headerList, type NamedValue } from "../../code/header-list.ts";
import type { Code, Hole, Name } from "../../code/hole.ts";
import { assigned, laidOut } from "../../code/layout.ts";
import { importedType, name } from "../../code/names.ts";
import { parameter } from "../../code/variables.ts";
import type { RouteScope } from "../policy.ts";

/** A function of the module that returns an object of expressions' values. */
export interface ObjectFunction {
  readonly label: Name;
  readonly declaration: Code;
  readonly call: Code;
  readonly variables: readonly string[];
}

/** Writes the function `label`, which returns an object with these members; `read`: the expressions in them. */
export function objectFunction(
  label: string,
  type: Code,
  read: readonly CompiledExpression[],
  members: readonly Hole[],
  origin: Origin,
  { trace, variables: scope }: RouteScope,
): ObjectFunction {
  const variables = [...new Set(read.flatMap((each) => each.variables))].sort();
  const passed = variables.map((variable) => scope.argument(variable));
  return {
    declaration: code`
      ${trace(origin)}
      function ${name(label)}(${join(variables.map(parameter), ", ")}): ${type} {
        return {
          ${members}
        };
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
    label: name(label),
    variables,
  };
}

/** Writes the function `label`, which returns the values of expressions by name; `undefined` without expressions. */
export function valuesFunction(
  label: string,
  values: readonly NamedValue[],
  origin: Origin,
  scope: RouteScope,
): ObjectFunction | undefined {
  if (values.length === 0) return undefined;
  const members = values.map(
    ({ name: key, value }) => code`
      ${comment(value.source)}
      ${assigned(code`${propertyKey(key)}:`, scope.expressions.use(value.code))},
    `,
  );
  const result = importedType("gwc/runtime/cel/variables", "JsonObject");
  const read = values.map(({ value }) => value);
  return objectFunction(label, code`${result}`, read, members, origin, scope);
}

/** Writes the function `label`, which returns names and values of headers; `undefined` without headers. */
export function headersFunction(
  label: string,
  headers: readonly NamedValue[],
  scope: RouteScope,
): CalledFunction | undefined {
  if (headers.length === 0) return undefined;
  const type = importedType("gwc/runtime/policies/transformations/message-changes", "HeaderValue");
  const read = headers.map(({ value }) => value);
  return calledFunction(
    label,
    code`${type}[]`,
    read,
    headerList(headers, scope.expressions),
    scope,
  );
}

/** Writes the function `label`, which returns a list of values. */
export function listFunction(
  label: string,
  values: readonly CompiledExpression[],
  scope: RouteScope,
): CalledFunction {
  const list = valueList(values, scope.expressions);
  return calledFunction(label, code`unknown[]`, values, list, scope);
}

/** Writes a list of values, each with its source above it. */
export function valueList(values: readonly CompiledExpression[], expressions: Expressions): Code {
  const items = values.map(
    (value) => code`
      ${comment(value.source)}
      ${laidOut(expressions.use(value.code), "operand")},
    `,
  );
  return code`
    [
      ${items}
    ]
  `;
}

/** A function of the module, and its call in the route's function. */
type CalledFunction = Pick<ObjectFunction, "declaration" | "call">;

function calledFunction(
  label: string,
  type: Code,
  read: readonly CompiledExpression[],
  result: Code,
  { variables: scope }: RouteScope,
): CalledFunction {
  const variables = [...new Set(read.flatMap((each) => each.variables))].sort();
  const passed = variables.map((variable) => scope.argument(variable));
  return {
    declaration: code`
      function ${name(label)}(${join(variables.map(parameter), ", ")}): ${type} {
        return ${result};
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
  };
}

/** Writes a member of an object, with its source above it. */
export function valueMember(
  label: string,
  value: CompiledExpression,
  expressions: Expressions,
): Code {
  return code`
    ${comment(value.source)}
    ${assigned(code`${name(label)}:`, expressions.use(value.code))},
  `;
}

/** Writes the key of a property; quoted ones are computed, so that `__proto__` is a name like any other. */
export function propertyKey(key: string): Hole {
  const isPlain = /^[A-Za-z_$][\w$]*$/.test(key) && key !== "__proto__";
  return isPlain ? name(key) : code`[${literal(key)}]`;
}

/**
 * Passes a function of a response: itself if it reads only the response, otherwise one that passes the other
 * variables.
 */
export function ofResponse({ label, variables, call }: ObjectFunction): Code {
  if (variables.every((each) => each === "response")) return code`${label}`;
  return code`${variables.includes("response") ? code`(response)` : code`()`} => ${call}`;
}
