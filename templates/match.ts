import type { RouteEntry, RouteMatch, ValueMatch } from "../compiler/ir.ts";
import { type Code, code, imported, literal } from "./code.ts";
import { constantsOf, expression } from "./expression.ts";

/** The conditions of a match, all of which must hold; none when it always does. `path` is a local name. */
export function matchConditions(match: RouteMatch): readonly Code[] {
  return [
    ...pathCondition(match),
    ...(match.method === undefined ? [] : [code`exchange.method === ${literal(match.method)}`]),
    ...match.headers.map((header) =>
      valueCondition(header, code`exchange.header(${literal(header.name)})`, "header"),
    ),
    ...match.query.map((parameter) => {
      const value = imported("gwc/runtime/http/query", "queryValue");
      return valueCondition(
        parameter,
        code`${value}(exchange.query, ${literal(parameter.name)})`,
        "query",
      );
    }),
  ];
}

/** Module constants of the patterns in these entries. */
export function matchConstants(entries: readonly RouteEntry[]): readonly Code[] {
  return entries.flatMap(({ match }) =>
    [
      match.path,
      ...match.headers.map((each) => each.value),
      ...match.query.map((each) => each.value),
    ].flatMap((value) => (value.kind === "regex" ? constantsOf(value.test) : [])),
  );
}

function pathCondition({ path }: RouteMatch): readonly Code[] {
  switch (path.kind) {
    case "exact":
      return [code`path === ${literal(path.value)}`];
    case "prefix":
      return path.value === "/"
        ? []
        : [code`${imported("gwc/runtime/http/path", "isUnder")}(path, ${literal(path.value)})`];
    case "regex":
      return [expression(path.test)];
  }
}

/** A pattern's test reads the local name `header` or `query`, so it is wrapped in a function of it. */
function valueCondition({ value }: ValueMatch, read: Code, subject: "header" | "query"): Code {
  if (value.kind === "exact") return code`${read} === ${literal(value.value)}`;
  const test = expression(value.test);
  return subject === "header"
    ? code`${imported("gwc/runtime/http/query", "holds")}(${read}, (header) => ${test})`
    : code`${imported("gwc/runtime/http/query", "holds")}(${read}, (query) => ${test})`;
}
