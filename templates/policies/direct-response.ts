import type { PolicySettings } from "../../compiler/ir/program.ts";
import { code, imported, importedType, literal, name } from "../code/code.ts";
import { readsBody } from "../code/reads.ts";
import { valueFunction } from "../code/value-function.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/direct-response";

/** `directResponse`: ends the route, where an answer has no condition. */
export const directResponseTemplate: PolicyTemplate<"directResponse"> = (
  { settings: { cases } },
  scope,
) => {
  const bodies = cases.flatMap(({ value: { body } }) => (typeof body === "string" ? [] : body));
  const made = casesCode(cases, "isAnswered", scope, (answer, suffix) =>
    answerCode(answer, suffix, scope),
  );
  return {
    ...made,
    readsRequestBody: made.readsRequestBody || readsBody(bodies, "request"),
    answers: cases.some(({ condition }) => condition === undefined),
  };
};

type Answer = PolicySettings["directResponse"]["cases"][number]["value"];

function answerCode(
  { status, headers, body, origin }: Answer,
  suffix: string,
  { trace, expressions, variables }: RouteScope,
): CaseCode {
  const answer = name(`answer${suffix}`);
  const value = { status, headers, ...(typeof body === "string" ? { body } : {}) };
  const type = importedType(MODULE, typeof body === "string" ? "DirectResponse" : "AnswerHead");
  const declaration = code`
    ${trace(origin)}
    const ${answer}: ${type} = ${literal(value)};
  `;
  if (typeof body === "string") {
    return {
      declarations: [declaration],
      steps: [code`return ${imported(MODULE, "respondDirectly")}(exchange, ${answer});`],
    };
  }
  const made = valueFunction(`answerBody${suffix}`, body, expressions, variables);
  return {
    declarations: [declaration, made.declaration],
    steps: [code`return ${imported(MODULE, "respondWith")}(exchange, ${answer}, ${made.call});`],
  };
}
