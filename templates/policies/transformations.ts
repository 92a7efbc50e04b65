import type { CompiledExpression, PolicySettings } from "../../compiler/ir.ts";
import {
  type Code,
  code,
  comment,
  type Hole,
  imported,
  importedType,
  join,
  literal,
  type Name,
  name,
} from "../code.ts";
import type { Expressions } from "../expression.ts";
import { readsBody } from "../reads.ts";
import { parameter } from "../variables.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/transformations";
const CHANGES = "gwc/runtime/http/message-changes";

/** `transformations`: what becomes of a message as a function of what it is, and the statement that does it. */
export const transformationsTemplate: PolicyTemplate<"transformations"> = (
  { settings: { request, response } },
  scope,
) => {
  const declarations: Hole[] = [];
  const steps: Hole[] = [];
  if (request !== undefined) {
    const changes = changesFunction("requestChanges", "RequestChanges", request, scope);
    declarations.push(changes.declaration);
    const transform = scope.phase === "PreRouting" ? "transformBeforeRouting" : "transformRequest";
    steps.push(code`${imported(MODULE, transform)}(exchange, ${changes.call});`);
  }
  if (response !== undefined) {
    const changes = changesFunction("responseChanges", "ResponseChanges", response, scope);
    declarations.push(changes.declaration);
    const transform = asTransform(changes);
    const isWhole = readsBody(expressionsOf(response), "response");
    steps.push(
      isWhole
        ? code`${imported(MODULE, "transformWholeResponse")}(exchange, ${transform}, ${literal(scope.maxBufferSize)});`
        : code`${imported(MODULE, "transformResponse")}(exchange, ${transform});`,
    );
  }
  const all = [request, response].flatMap((each) =>
    each === undefined ? [] : expressionsOf(each),
  );
  return { declarations, steps, readsRequestBody: readsBody(all, "request") };
};

/** The function of an answer: it, or one that passes on what the route holds. */
function asTransform({ label, variables, call }: ChangesFunction): Code {
  if (variables.every((variable) => variable === "response")) return code`${label}`;
  return variables.includes("response") ? code`(response) => ${call}` : code`() => ${call}`;
}

type Transform = NonNullable<PolicySettings["transformations"]["request"]>;

function expressionsOf({ add, set, pseudo, body }: Transform): readonly CompiledExpression[] {
  const values = [...add, ...set, ...pseudo].map(({ value }) => value);
  return body === undefined ? values : [...values, body];
}

interface ChangesFunction {
  readonly label: Name;
  readonly declaration: Code;
  readonly call: Code;
  readonly variables: readonly string[];
}

function changesFunction(
  label: string,
  type: string,
  transform: Transform,
  { trace, expressions, variables: scope }: RouteScope,
): ChangesFunction {
  const { add, set, remove, pseudo, body, origin } = transform;
  const variables = [...new Set(expressionsOf(transform).flatMap((each) => each.variables))].sort();
  const members: Hole[] = [
    code`add: ${headerList(add, expressions)},`,
    code`set: ${headerList(set, expressions)},`,
    code`remove: ${literal(remove)},`,
    ...pseudo.map(({ name: each, value }) => member(each, value, expressions)),
    ...(body === undefined ? [] : [member("body", body, expressions)]),
  ];
  return {
    declaration: code`
      ${trace(origin)}
      function ${name(label)}(${join(variables.map(parameter), ", ")}): ${importedType(CHANGES, type)} {
        return {
          ${members}
        };
      }
    `,
    call: code`${name(label)}(${join(
      variables.map((variable) => scope.argument(variable)),
      ", ",
    )})`,
    label: name(label),
    variables,
  };
}

function member(label: string, value: CompiledExpression, expressions: Expressions): Code {
  return code`
    ${comment(value.source)}
    ${name(label)}: ${expressions.use(value.code)},
  `;
}

function headerList(headers: Transform["add"], expressions: Expressions): Code {
  if (headers.length === 0) return code`[]`;
  const entries = headers.map(
    ({ name: header, value }) => code`
      ${comment(value.source)}
      [${literal(header)}, ${expressions.use(value.code)}],
    `,
  );
  return code`
    [
      ${entries}
    ]
  `;
}
