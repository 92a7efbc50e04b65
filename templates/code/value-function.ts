import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, join } from "./code.ts";
import type { Expressions } from "./expression.ts";
import type { Code } from "./hole.ts";
import { returned } from "./layout.ts";
import { name } from "./names.ts";
import { parameter, type RouteVariables } from "./variables.ts";

/** An expression as a function of the module, and its call in the route's function. */
export interface ValueFunction {
  readonly declaration: Code;
  readonly call: Code;
}

/** Writes the function `label`, which returns an expression's value, with the source above it. */
export function valueFunction(
  label: string,
  { source, variables, code: emitted }: CompiledExpression,
  expressions: Expressions,
  scope: RouteVariables,
): ValueFunction {
  return {
    declaration: code`
      function ${name(label)}(${join(variables.map(parameter), ", ")}): unknown {
        ${comment(source)}
        ${returned(expressions.use(emitted))}
      }
    `,
    call: code`${name(label)}(${join(
      variables.map((variable) => scope.argument(variable)),
      ", ",
    )})`,
  };
}
