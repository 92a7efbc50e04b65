import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { valueFunction } from "../code/value-function.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import { headersFunction } from "./parts/object-function.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/direct-response";

/** `directResponse`: ends the route if a response has no condition. */
export const directResponseTemplate: PolicyTemplate<"directResponse"> = {
  code: ({ settings: { cases } }, scope) => {
    const read = cases.flatMap(({ value: { body, computedHeaders } }) => [
      ...(typeof body === "string" ? [] : [body]),
      ...computedHeaders.map(({ value }) => value),
    ]);
    const made = casesCode(cases, "headersSent", scope, (response, suffix) =>
      responseCode(response, suffix, scope),
    );
    return {
      ...made,
      readsRequestBody: made.readsRequestBody || readsBody(read, "request"),
      responses: cases.some(({ condition }) => condition === undefined),
    };
  },
};

type Response = PolicySettings["directResponse"]["cases"][number]["value"];

function responseCode(response: Response, suffix: string, scope: RouteScope): CaseCode {
  const { status, headers, computedHeaders, body, origin } = response;
  const isFixed = typeof body === "string";
  const label = name(`response${suffix}`);
  const computed = headersFunction(`ownHeaders${suffix}`, computedHeaders, scope);
  const made = isFixed
    ? undefined
    : valueFunction(`responseBody${suffix}`, body, scope.expressions, scope.variables);
  const value = { status, headers, ...(isFixed && { body }) };
  const values = [computed, made].flatMap((each) => each ?? []);
  const isWhole = values.length === 0;
  const type = importedType(MODULE, isFixed ? "DirectResponse" : "ResponseHead");
  const passed = { headers: computed?.call, body: made?.call };
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${label}: ${type} = ${literal(value)};
      `,
      ...values.map(({ declaration }) => declaration),
    ],
    steps: isWhole
      ? [code`return ${imported(MODULE, "respondDirectly")}(exchange, ${label});`]
      : [code`return ${imported(MODULE, "respondWith")}(exchange, ${label}, ${literal(passed)});`],
  };
}
