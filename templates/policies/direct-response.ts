import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { valueFunction } from "../code/value-function.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/direct-response";

/** `directResponse`: ends the route if a response has no condition. */
export const directResponseTemplate: PolicyTemplate<"directResponse"> = {
  code: ({ settings: { cases } }, scope) => {
    const bodies = cases.flatMap(({ value: { body } }) => (typeof body === "string" ? [] : body));
    const made = casesCode(cases, "headersSent", scope, (response, suffix) =>
      responseCode(response, suffix, scope),
    );
    return {
      ...made,
      readsRequestBody: made.readsRequestBody || readsBody(bodies, "request"),
      responses: cases.some(({ condition }) => condition === undefined),
    };
  },
};

type Response = PolicySettings["directResponse"]["cases"][number]["value"];

function responseCode(
  { status, headers, body, origin }: Response,
  suffix: string,
  { trace, expressions, variables }: RouteScope,
): CaseCode {
  const response = name(`response${suffix}`);
  const value = { status, headers, ...(typeof body === "string" ? { body } : {}) };
  const type = importedType(MODULE, typeof body === "string" ? "DirectResponse" : "ResponseHead");
  const declaration = code`
    ${trace(origin)}
    const ${response}: ${type} = ${literal(value)};
  `;
  if (typeof body === "string") {
    return {
      declarations: [declaration],
      steps: [code`return ${imported(MODULE, "respondDirectly")}(exchange, ${response});`],
    };
  }
  const made = valueFunction(`responseBody${suffix}`, body, expressions, variables);
  return {
    declarations: [declaration, made.declaration],
    steps: [code`return ${imported(MODULE, "respondWith")}(exchange, ${response}, ${made.call});`],
  };
}
