import type { CompiledExpression, PickedParameters } from "../../../compiler/model/expressions.ts";
import { code } from "../../code/code.ts";
import type { Code, Expression, Name } from "../../code/hole.ts";
import { imported, name } from "../../code/names.ts";
import { arrow, call, listExpression, objectExpression, value } from "../../code/syntax.ts";

/** Values of a request that expressions read and that may be repeated. */
export interface RepeatableReads {
  /** Cookies and query parameters that they read by name; `undefined` if they read none. */
  readonly parameters: PickedParameters | undefined;
}

/** Returns the values that expressions read and that a request may repeat; `undefined` if every request has one reading. */
export function repeatableReads(
  expressions: readonly CompiledExpression[],
): RepeatableReads | undefined {
  const picked = expressions.flatMap(({ parameters }) => parameters ?? []);
  const parameters =
    picked.length === 0
      ? undefined
      : {
          cookies: union(picked.map(({ cookies }) => cookies)),
          query: union(picked.map(({ query }) => query)),
        };
  const readsHeaders = expressions.some(({ reads }) =>
    reads.some(([root, member]) => root === "request" && (member ?? "headers") === "headers"),
  );
  return readsHeaders || parameters !== undefined ? { parameters } : undefined;
}

/** Writes the test whether the request may have several readings, once the expressions have run. */
export function isRepeatingCode({ parameters }: RepeatableReads): Expression {
  if (parameters === undefined) return code`exchange.hasReadRepeated`;
  return call(imported(READINGS, "isRepeating"), [code`exchange`, pickedCode(parameters)]);
}

/** Writes the call of a function that evaluates something for all readings of the exchange. `passed`: its arguments. */
export function readingsCall(
  evaluator: Expression,
  callee: Name,
  passed: readonly Code[],
  variables: readonly string[],
  { parameters }: RepeatableReads,
): Expression {
  const reading = name("request");
  const args = variables.map((variable, index) =>
    variable === "request" ? reading : (passed[index] ?? code``),
  );
  const isOfRequest = variables.every((variable) => variable === "request");
  const evaluate = isOfRequest ? callee : arrow([reading], call(callee, args));
  const given = parameters === undefined ? [] : [pickedCode(parameters)];
  return call(evaluator, [code`exchange`, evaluate, ...given]);
}

/** Writes parameters as an argument. */
export function pickedCode({ cookies, query }: PickedParameters): Expression {
  return objectExpression([
    ["cookies", namesCode(cookies)],
    ["query", namesCode(query)],
  ]);
}

function namesCode(names: PickedParameters["query"]): Expression {
  return names === "any" ? value(names) : listExpression(names.map(value));
}

function union(lists: readonly (readonly string[] | "any")[]): readonly string[] | "any" {
  if (lists.includes("any")) return "any";
  return [...new Set(lists.flatMap((list) => (list === "any" ? [] : list)))].sort();
}

const READINGS = "gwc/runtime/http/request-readings";
