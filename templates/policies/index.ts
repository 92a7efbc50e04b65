import type { PolicyKind, PolicyUse } from "../../compiler/ir.ts";
import { authorizationTemplate } from "./authorization.ts";
import { corsTemplate } from "./cors.ts";
import { jwtAuthTemplate } from "./jwt-auth.ts";
import { mcpAuthenticationTemplate } from "./mcp-authentication.ts";
import { mcpAuthorizationTemplate } from "./mcp-authorization.ts";
import type { PolicyCode, PolicyTemplate, RouteScope } from "./policy.ts";

/** The template of every policy; the place in the list is the place in the request order. */
const templates: { readonly [Kind in PolicyKind]: PolicyTemplate<Kind> } = {
  cors: corsTemplate,
  mcpAuthentication: mcpAuthenticationTemplate,
  jwtAuth: jwtAuthTemplate,
  authorization: authorizationTemplate,
  mcpAuthorization: mcpAuthorizationTemplate,
};

/** The code of one policy of a route. */
export function policyCode<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  scope: RouteScope,
): PolicyCode {
  return templates[use.kind](use, scope);
}
