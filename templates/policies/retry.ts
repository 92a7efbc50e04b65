import type { PolicyUse } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { Code, Expression, Hole } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { arrow, call, ternary, value } from "../code/syntax.ts";
import { milliseconds } from "../code/units.ts";
import { parameter } from "../code/variables.ts";
import type { PolicyCode, PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/retry";

const TRIES = `${MODULE}/tries`;

/** `retry`: the request is passed on in attempts. */
export const retryTemplate: PolicyTemplate<"retry"> = {
  code: (use, scope) => {
    if (!scope.keepsLimits) return forwardedTries(use, scope);
    const kept = keptTries(use, scope);
    return scope.forwards ? { ...kept, ...forwardedTries(use, scope) } : kept;
  },
};

/** Passes the retries to a backend that applies them itself. */
function keptTries({ settings, origin }: PolicyUse<"retry">, scope: RouteScope): PolicyCode {
  const { attempts, backoff, codes, precondition, condition } = settings;
  const tries = {
    attempts,
    backoff: milliseconds(backoff),
    codes: code`new Set(${literal(codes)})`,
  };
  const before = precondition && test("mayRetry", precondition, scope);
  const after = condition && test("wantsRetry", condition, scope);
  const wanted = after === undefined ? [] : [arrow([name("response")], after.call)];
  const tried = call(imported(TRIES, "triedCall"), [name("retry"), ...wanted]);
  const declarations = [
    code`
      ${scope.trace(origin)}
      const retry = ${imported(TRIES, "openTries")}(${literal(tries)});
    `,
    ...[before, after].flatMap((each) => each?.declaration ?? []),
  ];
  const argument = before === undefined ? tried : ternary(before.call, tried, value(undefined));
  return {
    declarations: [],
    steps: [],
    readsRequestBody: readsBody([precondition ?? [], condition ?? []].flat(), "request"),
    tries: { declarations, argument, settings: tries, origin },
  };
}

/** Forwards the request with retries. */
function forwardedTries({ settings, origin }: PolicyUse<"retry">, scope: RouteScope): PolicyCode {
  const { attempts, backoff, codes, precondition, condition } = settings;
  const limits = scope.policies.find((use): use is PolicyUse<"timeout"> => use.kind === "timeout");
  const { request, attempt } = limits?.settings ?? {};
  const retry = {
    attempts,
    backoff: milliseconds(backoff),
    codes: code`new Set(${literal(codes)})`,
    requestTimeout: limit(request),
    attemptTimeout: limit(attempt),
  };
  const type = importedType(MODULE, "RetrySettings");
  const before = precondition && test("mayRetry", precondition, scope);
  const after = condition && test("wantsRetry", condition, scope);
  const chosen = before === undefined ? code`retry` : code`${before.call} ? retry : noRetry`;
  const wanted = after === undefined ? [] : code`, (response) => ${after.call}`;
  const conditions = [precondition ?? [], condition ?? []].flat();
  return {
    declarations: [
      code`
          ${scope.trace(origin)}
          const retry: ${type} = ${literal(retry)};
        `,
      ...(before === undefined
        ? []
        : [code`const noRetry: ${type} = { ...retry, attempts: 0 };`, before.declaration]),
      ...(after === undefined ? [] : [after.declaration]),
    ],
    steps: [],
    readsRequestBody: readsBody(conditions, "request"),
    forward: (server) =>
      code`${imported(MODULE, "forwardRetrying")}(exchange, ${server}, ${chosen}${wanted})`,
  };
}

/** Writes a limit, if there is one. */
function limit(time: number | undefined): Expression {
  return time === undefined ? value(undefined) : milliseconds(time);
}

/** Writes a condition as a function of the module. */
function test(
  label: string,
  { source, variables, code: emitted }: CompiledExpression,
  { expressions, variables: scope }: RouteScope,
): { readonly declaration: Hole; readonly call: Code } {
  const passed = variables.map((variable) => scope.argument(variable));
  return {
    declaration: code`
      function ${name(label)}(${join(variables.map(parameter), ", ")}): boolean {
        ${comment(source)}
        ${returned(expressions.use(emitted))}
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
  };
}
