import { code, importedType, join, name } from "../code.ts";
import { rulesCode } from "../rules.ts";
import { argument, parameter } from "../variables.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `mcpAuthorization`: the rule function that the MCP backend asks about every item, listed or called. */
export const mcpAuthorizationTemplate: PolicyTemplate<"mcpAuthorization"> = (
  { settings, origin },
  { trace, expressions, variables: declared },
) => {
  const { body, variables } = rulesCode(settings.rules, expressions);
  const input = importedType("gwc/runtime/policies/mcp-authorization", "McpRuleInput");
  const own = variables.filter((variable) => OF_THE_ITEM.has(variable));
  const others = variables.filter((variable) => !OF_THE_ITEM.has(variable));
  const item =
    own.length === 0 ? code`_item: ${input}` : code`{ ${join(own.map(name), ", ")} }: ${input}`;
  const parameters = variables.length === 0 ? [] : join([item, ...others.map(parameter)], ", ");
  const passed = others.map((variable) => argument(variable, declared));
  return {
    declarations: [
      code`
        ${trace(origin)}
        function mayUse(${parameters}): boolean {
          ${body}
        }
      `,
    ],
    steps: [],
    mcpRule:
      others.length === 0
        ? code`mayUse`
        : code`(item) => mayUse(${join([code`item`, ...passed], ", ")})`,
  };
};

/** What the backend tells the rule of each item; identities besides the token's are the route's to pass. */
const OF_THE_ITEM: ReadonlySet<string> = new Set(["request", "jwt", "mcp"]);
