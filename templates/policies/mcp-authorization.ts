import { code, importedType, join, name } from "../code.ts";
import { rulesCode } from "../rules.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `mcpAuthorization`: the rule function that the MCP backend asks about every item, listed or called. */
export const mcpAuthorizationTemplate: PolicyTemplate<"mcpAuthorization"> = (
  { settings, origin },
  { trace, expressions },
) => {
  const { body, variables } = rulesCode(settings.rules, expressions);
  const input = importedType("gwc/runtime/policies/mcp-authorization", "McpRuleInput");
  const parameter =
    variables.length === 0 ? [] : code`{ ${join(variables.map(name), ", ")} }: ${input}`;
  return {
    declarations: [
      code`
        ${trace(origin)}
        function mayUse(${parameter}): boolean {
          ${body}
        }
      `,
    ],
    steps: [],
    mcpRule: code`mayUse`,
  };
};
