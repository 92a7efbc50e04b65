import type { PolicyKind } from "../../compiler/ir/policies.ts";
import { a2aTemplate } from "./a2a.ts";
import { apiKeyTemplate } from "./api-key.ts";
import { authorizationTemplate } from "./authorization.ts";
import { basicAuthTemplate } from "./basic-auth.ts";
import { bufferTemplate } from "./buffer.ts";
import { corsTemplate } from "./cors.ts";
import { csrfTemplate } from "./csrf.ts";
import { customTemplate } from "./custom.ts";
import { delayTemplate } from "./delay.ts";
import { directResponseTemplate } from "./direct-response.ts";
import { extAuthzTemplate } from "./ext-authz.ts";
import { extProcTemplate } from "./ext-proc.ts";
import { hostRewriteTemplate } from "./host-rewrite.ts";
import { jwtAuthTemplate } from "./jwt-auth.ts";
import { localRateLimitTemplate } from "./local-rate-limit.ts";
import { mcpAuthenticationTemplate } from "./mcp-authentication.ts";
import { mcpAuthorizationTemplate } from "./mcp-authorization.ts";
import { mcpGuardrailsTemplate } from "./mcp-guardrails.ts";
import { mcpGuardsTemplate } from "./mcp-guards.ts";
import { oidcTemplate } from "./oidc.ts";
import type { PolicyTemplate } from "./policy.ts";
import { publicKeysTemplate } from "./public-keys.ts";
import { remoteRateLimitTemplate } from "./remote-rate-limit.ts";
import { requestHeaderModifierTemplate } from "./request-header-modifier.ts";
import { requestMirrorTemplate } from "./request-mirror.ts";
import { requestRedirectTemplate } from "./request-redirect.ts";
import { responseHeaderModifierTemplate } from "./response-header-modifier.ts";
import { retryTemplate } from "./retry.ts";
import { sessionAffinityTemplate } from "./session-affinity.ts";
import { sessionPersistenceTemplate } from "./session-persistence.ts";
import { timeoutTemplate } from "./timeout.ts";
import { transformationsTemplate } from "./transformations.ts";
import { urlRewriteTemplate } from "./url-rewrite.ts";
import { userConnectionsTemplate } from "./user-connections.ts";

/** Templates of all policies, in request order. */
const templates: { readonly [Kind in PolicyKind]: PolicyTemplate<Kind> } = {
  cors: corsTemplate,
  oidc: oidcTemplate,
  mcpAuthentication: mcpAuthenticationTemplate,
  jwtAuth: jwtAuthTemplate,
  basicAuth: basicAuthTemplate,
  apiKey: apiKeyTemplate,
  custom: customTemplate,
  extAuthz: extAuthzTemplate,
  authorization: authorizationTemplate,
  mcpAuthorization: mcpAuthorizationTemplate,
  mcpGuards: mcpGuardsTemplate,
  mcpGuardrails: mcpGuardrailsTemplate,
  localRateLimit: localRateLimitTemplate,
  remoteRateLimit: remoteRateLimitTemplate,
  buffer: bufferTemplate,
  extProc: extProcTemplate,
  transformations: transformationsTemplate,
  csrf: csrfTemplate,
  requestHeaderModifier: requestHeaderModifierTemplate,
  responseHeaderModifier: responseHeaderModifierTemplate,
  hostRewrite: hostRewriteTemplate,
  urlRewrite: urlRewriteTemplate,
  requestRedirect: requestRedirectTemplate,
  delay: delayTemplate,
  directResponse: directResponseTemplate,
  publicKeys: publicKeysTemplate,
  userConnections: userConnectionsTemplate,
  a2a: a2aTemplate,
  requestMirror: requestMirrorTemplate,
  sessionPersistence: sessionPersistenceTemplate,
  sessionAffinity: sessionAffinityTemplate,
  timeout: timeoutTemplate,
  retry: retryTemplate,
};

/** Returns the template of a policy kind. */
export function templateOf<Kind extends PolicyKind>(kind: Kind): PolicyTemplate<Kind> {
  return templates[kind];
}
