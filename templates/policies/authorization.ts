import { code, imported, join } from "../code/code.ts";
import { readsBody } from "../code/reads.ts";
import { ifStatement } from "../code/statements.ts";
import { parameter } from "../code/variables.ts";
import { rulesCode } from "./parts/rules.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `authorization`: CEL rules over the request and the identities. */
export const authorizationTemplate: PolicyTemplate<"authorization"> = (
  { settings, origin },
  { trace, variables: declared, expressions },
) => {
  const { body, variables } = rulesCode(settings.rules, expressions);
  const parameters = variables.map(parameter);
  const passed = variables.map((variable) => declared.argument(variable));
  const refuse = imported("gwc/runtime/policies/authorization", "denyForbidden");
  return {
    readsRequestBody: readsBody(
      settings.rules.map(({ expression }) => expression),
      "request",
    ),
    declarations: [
      code`
        ${trace(origin)}
        function isAuthorized(${join(parameters, ", ")}): boolean {
          ${body}
        }
      `,
    ],
    steps: [
      ifStatement([code`!isAuthorized(${join(passed, ", ")})`], code`return ${refuse}(exchange);`),
    ],
  };
};
