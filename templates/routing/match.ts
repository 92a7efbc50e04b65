import type { RouteMatch, ValueMatch } from "../../compiler/model/matches.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import { arrow, binary, call } from "../code/syntax.ts";

const MATCHED = "gwc/runtime/http/routing/matched-values";

/** Returns the conditions of a match, all of which must be true; none if it always matches. `path` is a local name. */
export function matchConditions(
  match: RouteMatch,
  expressions: Expressions,
): readonly Expression[] {
  return [...pathCondition(match, expressions), ...otherConditions(match, expressions)];
}

/** Returns the conditions of a match besides its path. */
export function otherConditions(
  match: Pick<RouteMatch, "method" | "headers" | "query">,
  expressions: Expressions,
): readonly Expression[] {
  return [
    ...(match.method === undefined ? [] : [equals(code`exchange.method`, match.method)]),
    ...match.headers.map((header) =>
      valueCondition(
        header,
        code`${imported(MATCHED, "matchedHeader")}(exchange, ${literal(header.name)})`,
        "header",
        expressions,
      ),
    ),
    ...match.query.map((parameter) => {
      const value = imported(MATCHED, "matchedParameter");
      return valueCondition(
        parameter,
        code`${value}(exchange, ${literal(parameter.name)})`,
        "query",
        expressions,
      );
    }),
  ];
}

function pathCondition({ path }: RouteMatch, expressions: Expressions): readonly Expression[] {
  switch (path.kind) {
    case "exact":
      return [equals(name("path"), path.value)];
    case "prefix":
      return path.value === "/"
        ? []
        : [
            code`${imported("gwc/runtime/http/routing/path", "isUnder")}(path, ${literal(path.value)})`,
          ];
    case "regex":
      return [expressions.use(path.test)];
  }
}

/** Wraps a pattern's test, which reads the local name `header` or `query`, in a function of that name. */
function valueCondition(
  { value }: ValueMatch,
  read: Code,
  subject: "header" | "query",
  expressions: Expressions,
): Expression {
  if (value.kind === "exact") return equals(read, value.value);
  const test = expressions.use(value.test);
  const holds = imported("gwc/runtime/http/routing/query", "holds");
  return call(holds, [read, arrow([name(subject)], test)]);
}

function equals(read: Expression, text: string): Expression {
  return binary("===", [read, literal(text)]);
}
