import { type Code, code, imported, importedType, join, name } from "../code.ts";
import { rulesCode } from "../rules.ts";
import { ifStatement } from "../statements.ts";
import type { PolicyTemplate } from "./policy.ts";

const VARIABLES = "gwc/runtime/cel/variables";

/** `authorization`: CEL rules over the request and the identities. */
export const authorizationTemplate: PolicyTemplate<"authorization"> = (
  { settings, origin },
  { trace, policies, expressions },
) => {
  const { body, variables } = rulesCode(settings.rules, expressions);
  const hasJwt = policies.some(({ kind }) => kind === "jwtAuth" || kind === "mcpAuthentication");
  const parameters = variables.map((variable) => code`${name(variable)}: ${typeOf(variable)}`);
  const passed = variables.map((variable) => argument(variable, hasJwt));
  const refuse = imported("gwc/runtime/policies/authorization", "refuseUnauthorized");
  return {
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

function typeOf(variable: string): ReturnType<typeof importedType> {
  return variable === "request"
    ? importedType(VARIABLES, "RequestVariables")
    : importedType(VARIABLES, `${variable.charAt(0).toUpperCase()}${variable.slice(1)}Variable`);
}

function argument(variable: string, hasJwt: boolean): Code {
  if (variable === "request") return code`exchange`;
  return variable === "jwt" && hasJwt ? code`jwt` : code`null`;
}
