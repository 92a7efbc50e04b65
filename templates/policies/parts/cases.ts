import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../../compiler/model/expressions.ts";
import { readingsCall, repeatableReads } from "../../backends/parts/readings.ts";
import { code, comment, join } from "../../code/code.ts";
import type { Code, Expression, Hole } from "../../code/hole.ts";
import { laidOut, returned } from "../../code/layout.ts";
import { imported, name } from "../../code/names.ts";
import { readsBody } from "../../code/reads.ts";
import { parameter } from "../../code/variables.ts";
import type { RouteScope } from "../policy.ts";

/** One of several cases of a policy. */
export interface PolicyCase<Value> {
  readonly condition: CompiledExpression | undefined;
  readonly value: Value;
  readonly origin: Origin;
}

/** Parts that a policy adds to a module. */
export interface CaseCode {
  readonly declarations: readonly Hole[];
  readonly steps: readonly Hole[];
}

/**
 * Writes the cases of a policy: the first one whose condition is true applies. `test` names the functions of
 * conditions. `make` writes one case, whose names end in the suffix; a case without condition needs no `if`.
 */
export function casesCode<Value>(
  cases: readonly PolicyCase<Value>[],
  test: string,
  scope: RouteScope,
  make: (value: Value, suffix: string) => CaseCode,
): CaseCode & { readonly readsRequestBody: boolean } {
  const [only] = cases;
  if (cases.length === 1 && only !== undefined && only.condition === undefined) {
    return { ...make(only.value, ""), readsRequestBody: false };
  }
  const made = cases.map(({ condition, value, origin }, index) => {
    const suffix = String(index + 1);
    const found = condition && conditionCode(`${test}${suffix}`, condition, origin, scope);
    return { condition: found, ...make(value, suffix) };
  });
  const conditions = cases.flatMap(({ condition }) => condition ?? []);
  return {
    declarations: made.flatMap(({ condition, declarations }) => [
      ...(condition === undefined ? [] : [condition.declaration]),
      ...declarations,
    ]),
    steps: [branches(made)],
    readsRequestBody: readsBody(conditions, "request"),
  };
}

interface Branch extends CaseCode {
  readonly condition: { readonly call: Expression } | undefined;
}

/** Writes `if ... else if ... else`. */
function branches(made: readonly Branch[]): Code {
  const parts = made.map(({ condition, steps }, index) => {
    const word = index === 0 ? code`` : code`else `;
    const head =
      condition === undefined ? code`{` : code`if (${laidOut(condition.call, "condition")}) {`;
    return code`
      ${word}${head}
        ${steps.length === 0 ? IDLE : steps}
      }
    `;
  });
  return join(parts, " ");
}

/** Body of a case that does nothing on this route; later cases must not apply either. */
const IDLE = code`// no part of it applies to this route`;

function conditionCode(
  label: string,
  condition: CompiledExpression,
  origin: Origin,
  { trace, expressions, variables: scope }: RouteScope,
): { readonly declaration: Code; readonly call: Expression } {
  const { source, variables, code: emitted } = condition;
  const passed = variables.map((variable) => scope.argument(variable));
  const repeatable = repeatableReads([condition]);
  const isMetByAll = imported("gwc/runtime/policies/every-reading", "isMetByAll");
  return {
    declaration: code`
      ${trace(origin)}
      function ${name(label)}(${join(variables.map(parameter), ", ")}): boolean {
        ${comment(source)}
        ${returned(expressions.use(emitted))}
      }
    `,
    call:
      repeatable === undefined
        ? code`${name(label)}(${join(passed, ", ")})`
        : readingsCall(isMetByAll, name(label), passed, variables, repeatable),
  };
}
