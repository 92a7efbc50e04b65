import {
  type Authenticated,
  admit,
  type Challenge,
  refuseMissing,
  tokenIn,
} from "../auth/jwt/authenticate.ts";
import type { JwtVerifier } from "../auth/jwt/verifier.ts";
import { resourceMetadataUrl } from "../auth/oauth/well-known.ts";
import type { Exchange } from "../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";

/**
 * Strict mode, like `requireJwt`. The 401 also contains the URL of the protected-resource metadata, by which MCP clients
 * find the authorization server (RFC 9728 5.1), and the scopes to request (RFC 6750 3).
 */
export function requireMcpJwt(
  exchange: Exchange,
  verifier: JwtVerifier,
): MaybePromise<Authenticated> {
  const { location } = verifier;
  const challenge = challengeOf(verifier);
  const token = tokenIn(exchange, location);
  if (token === undefined) return refuseMissing(exchange, location, challenge);
  const verdict = verifier.check(token, exchange.gateway);
  return thenMaybe(verdict, (found) => admit(exchange, found, location, challenge));
}

/**
 * Optional mode: like strict mode if the request has a token; otherwise returns null. For permissive mode, see
 * `observeJwt`.
 */
export function acceptMcpJwt(
  exchange: Exchange,
  verifier: JwtVerifier,
): MaybePromise<Authenticated | null> {
  return tokenIn(exchange, verifier.location) === undefined
    ? null
    : requireMcpJwt(exchange, verifier);
}

function challengeOf({ scope }: JwtVerifier): Challenge {
  return (exchange, error) => {
    const params = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      ...(scope === undefined ? [] : [`scope="${scope}"`]),
      `resource_metadata="${resourceMetadataUrl(exchange)}"`,
    ];
    return `Bearer ${params.join(", ")}`;
  };
}
