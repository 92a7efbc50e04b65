import type { Upstream } from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import type { ClientParameters } from "./client-assertion.ts";
import { type ClientMethod, type OAuthClient, tokenRequest } from "./client-authentication.ts";
import { requestTokens } from "./request-tokens.ts";

/** A token endpoint, and how the gateway authenticates there. */
export interface TokenEndpoint {
  readonly url: string;
  /** Absent if the server is reached like any other. */
  readonly server?: Upstream | undefined;
  /** Absent if requests are not authenticated. */
  readonly client?: ExchangeClient | undefined;
}

/** OAuth client that requests the tokens: with a secret, without one, or with signed assertions. */
export type ExchangeClient =
  | (OAuthClient & { readonly method: ClientMethod })
  | { readonly clientId: string; readonly parameters?: ClientParameters };

/** A token as issued, with its lifetime in milliseconds if the server reports it. */
export interface IssuedToken {
  readonly token: string;
  readonly lifetime: number | undefined;
}

/** Parameters of a request for a token. */
export type TokenForm = readonly (readonly [name: string, value: string])[];

/** Returns the parameter with the scopes; none without scopes. */
export function scopeForm(scopes: readonly string[]): TokenForm {
  return scopes.length === 0 ? [] : [["scope", scopes.join(" ")]];
}

/** Requests a token. Throws an Error unless it has the requested type. */
export async function issuedToken(
  { url, server, client }: TokenEndpoint,
  form: TokenForm,
  requestedType: string | undefined,
): Promise<IssuedToken> {
  const isSecret = client !== undefined && "clientSecret" in client;
  const more = client === undefined || isSecret ? [] : await clientForm(client);
  const secret = isSecret ? client : undefined;
  const response = await requestTokens(tokenRequest(url, [...form, ...more], secret, server));
  const { access_token: token, expires_in: seconds, issued_token_type: type } = response;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new Error("the response has no token");
  }
  if (requestedType !== undefined && type !== undefined && type !== requestedType) {
    throw new Error("the token has another type than requested");
  }
  const hasLifetime = typeof seconds === "number" && seconds > 0;
  return { token, lifetime: hasLifetime ? seconds * SECOND : undefined };
}

async function clientForm({
  clientId,
  parameters,
}: Exclude<ExchangeClient, OAuthClient>): Promise<TokenForm> {
  return parameters === undefined ? [["client_id", clientId]] : parameters(clientId);
}
