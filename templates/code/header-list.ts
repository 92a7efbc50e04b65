import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, literal } from "./code.ts";
import type { Expressions } from "./expression.ts";
import type { Code } from "./hole.ts";
import { listExpression } from "./syntax.ts";

/** A name and the value of an expression. */
export interface NamedValue {
  readonly name: string;
  readonly value: CompiledExpression;
}

/** Names and values as a list of pairs. */
export function headerList(headers: readonly NamedValue[], expressions: Expressions): Code {
  if (headers.length === 0) return code`[]`;
  const entries = headers.map(
    ({ name: header, value }) => code`
      ${comment(value.source)}
      ${listExpression([literal(header), expressions.use(value.code)])},
    `,
  );
  return code`
    [
      ${entries}
    ]
  `;
}
