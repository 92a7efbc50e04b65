import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import type { HeaderChangesNode } from "../../compiler/model/header-changes.ts";
import { code, comment, literal } from "./code.ts";
import type { Expressions } from "./expression.ts";
import type { Code, Printable } from "./hole.ts";
import { listExpression } from "./syntax.ts";
import { nonEmpty } from "./units.ts";

/** A name and the expression of its value. */
export interface NamedValue {
  readonly name: string;
  readonly value: CompiledExpression;
}

/** Writes changes to headers as a setting. */
export function headerChanges({ set, add, remove }: HeaderChangesNode): Printable {
  return { set: nonEmpty(set), add: nonEmpty(add), remove: nonEmpty(remove) };
}

/** Writes names and values as a list of pairs. */
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
