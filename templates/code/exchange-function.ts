import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment } from "./code.ts";
import { constantsOf, Expressions } from "./expression.ts";
import type { Code } from "./hole.ts";
import { returned } from "./layout.ts";
import { LOG_NAMES, logVariables } from "./log-variables.ts";
import { importedType } from "./names.ts";

/**
 * Writes a function of an exchange that returns an expression's value, for settings outside of a route's function. Constants
 * of the expression are declared in it.
 */
export function exchangeFunction({ source, variables, code: emitted }: CompiledExpression): Code {
  const expressions = new Expressions(LOG_NAMES);
  const result = expressions.use(emitted);
  const type = importedType("gwc/runtime/http/exchange", "Exchange");
  const input = variables.length === 0 ? code`` : code`request: ${type}`;
  return code`
    (${input}): unknown => {
      ${comment(source)}
      ${logVariables(variables)}
      ${constantsOf(expressions)}
      ${returned(result)}
    }
  `;
}
