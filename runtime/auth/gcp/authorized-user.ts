import type { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import { grantedToken, postForm } from "../cloud/token-endpoint.ts";

/** The access token of a user by a refresh token (RFC 6749 6). */
export async function refreshedToken(user: CredentialFields): Promise<Expiring<string>> {
  const endpoint = user.optionalText("token_uri") ?? "https://oauth2.googleapis.com/token";
  const response = await postForm(endpoint, {
    grant_type: "refresh_token",
    client_id: user.text("client_id"),
    client_secret: user.text("client_secret"),
    refresh_token: user.text("refresh_token"),
  });
  return grantedToken(response);
}
