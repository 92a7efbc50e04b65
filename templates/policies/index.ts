import type { PolicyKind, PolicyUse } from "../../compiler/ir.ts";
import { authorizationTemplate } from "./authorization.ts";
import { corsTemplate } from "./cors.ts";
import { directResponseTemplate } from "./direct-response.ts";
import { hostRewriteTemplate } from "./host-rewrite.ts";
import { jwtAuthTemplate } from "./jwt-auth.ts";
import { mcpAuthenticationTemplate } from "./mcp-authentication.ts";
import { mcpAuthorizationTemplate } from "./mcp-authorization.ts";
import type { PolicyCode, PolicyTemplate, RouteScope } from "./policy.ts";
import { requestHeaderModifierTemplate } from "./request-header-modifier.ts";
import { requestRedirectTemplate } from "./request-redirect.ts";
import { responseHeaderModifierTemplate } from "./response-header-modifier.ts";
import { urlRewriteTemplate } from "./url-rewrite.ts";

/** The template of every policy; the place in the list is the place in the request order. */
const templates: { readonly [Kind in PolicyKind]: PolicyTemplate<Kind> } = {
  cors: corsTemplate,
  mcpAuthentication: mcpAuthenticationTemplate,
  jwtAuth: jwtAuthTemplate,
  authorization: authorizationTemplate,
  mcpAuthorization: mcpAuthorizationTemplate,
  requestHeaderModifier: requestHeaderModifierTemplate,
  responseHeaderModifier: responseHeaderModifierTemplate,
  hostRewrite: hostRewriteTemplate,
  urlRewrite: urlRewriteTemplate,
  requestRedirect: requestRedirectTemplate,
  directResponse: directResponseTemplate,
};

/** The code of one policy of a route. */
export function policyCode<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  scope: RouteScope,
): PolicyCode {
  return templates[use.kind](use, scope);
}
