import { CallRefused } from "../../http/upstream/credentialed-upstream.ts";
import type { UpstreamCredential } from "../../http/upstream/upstream.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import { putCredential, type SentPlace } from "../sent-credential.ts";
import { issuedToken, scopeForm, type TokenEndpoint, type TokenForm } from "./token-endpoint.ts";

/** Tokens that an authorization server issues to the gateway itself (RFC 6749 4.4). Times are in milliseconds. */
export interface ClientCredentialsSettings extends TokenEndpoint {
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Location of the token. */
  readonly target: SentPlace;
  /** Lifetime of tokens for which the server reports none. */
  readonly defaultLifetime: number;
}

/**
 * Sends the backend a token of the gateway itself, instead of the client's. All requests share the token, which is renewed in the
 * background before it expires. Clients get a 502 if there is none.
 */
export function clientCredentials(settings: ClientCredentialsSettings): UpstreamCredential {
  const { audiences, scopes, resources, target, defaultLifetime, url } = settings;
  const form: TokenForm = [
    ["grant_type", "client_credentials"],
    ...audiences.map((audience) => ["audience", audience] as const),
    ...resources.map((resource) => ["resource", resource] as const),
    ...scopeForm(scopes),
  ];
  const token = new ExpiringValue(`token of ${new URL(url).host}`, async () => {
    const { token: value, lifetime = defaultLifetime } = await issuedToken(
      settings,
      form,
      undefined,
    );
    return { value, expires: Date.now() + lifetime };
  });
  return async (call) => {
    try {
      putCredential(call, target, await token.current());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const detail = `no token for the backend: ${reason}`;
      throw new CallRefused({ kind: "protocol", isOfRequest: true, detail });
    }
  };
}
