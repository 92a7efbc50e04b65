import type { PolicyKind } from "../ir/program.ts";
import { apiKey } from "./api-key.ts";
import { authorization } from "./authorization.ts";
import { basicAuth } from "./basic-auth.ts";
import { cors } from "./cors.ts";
import { csrf } from "./csrf.ts";
import { directResponse } from "./direct-response.ts";
import { hostRewrite } from "./host-rewrite.ts";
import { jwtAuth } from "./jwt-auth.ts";
import { localRateLimit } from "./local-rate-limit.ts";
import { mcpAuthentication } from "./mcp-authentication.ts";
import { mcpAuthorization } from "./mcp-authorization.ts";
import type { Policy } from "./policy.ts";
import { requestHeaderModifier } from "./request-header-modifier.ts";
import { requestMirror } from "./request-mirror.ts";
import { requestRedirect } from "./request-redirect.ts";
import { responseHeaderModifier } from "./response-header-modifier.ts";
import { retry } from "./retry.ts";
import { timeout } from "./timeout.ts";
import { transformations } from "./transformations.ts";
import { urlRewrite } from "./url-rewrite.ts";

/** Every policy; the place in the list is the place in the request order. */
export const policies = [
  cors,
  mcpAuthentication,
  jwtAuth,
  basicAuth,
  apiKey,
  authorization,
  mcpAuthorization,
  localRateLimit,
  transformations,
  csrf,
  requestHeaderModifier,
  responseHeaderModifier,
  hostRewrite,
  urlRewrite,
  requestRedirect,
  directResponse,
  requestMirror,
  timeout,
  retry,
] as const;

/** The policy of a kind. */
export function policyOf<Kind extends PolicyKind>(kind: Kind): Policy<Kind> {
  const found = policies.find((policy) => policy.kind === kind);
  if (found === undefined) throw new Error(`no policy ${kind}`);
  // The list is keyed by `kind`: the one found is the one asked for.
  return found as unknown as Policy<Kind>;
}
